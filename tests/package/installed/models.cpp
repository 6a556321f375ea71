// What a project that uses the component models does, on a file that there is not.
#include <tessera/model.h>

int main() {
  auto context = tessera::Context::create({.prefer = {tessera::BackendKind::cpu}});
  try {
    tessera::Model::load(context, "none.onnx");
  } catch (const tessera::Error& error) {
    return error.code() == tessera::ErrorCode::io ? 0 : 1;
  }
  return 1;
}
