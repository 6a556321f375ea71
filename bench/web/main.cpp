// tessera as a peer in a page: bench/web/page.mjs asks it what bench/compare asks programs.
#include <emscripten/emscripten.h>

#include <memory>
#include <string>

#include "../compare/tessera_workloads.h"

namespace {

std::unique_ptr<compare::Answers> answers;
std::string said;

}  // namespace

extern "C" {

// On "webgl" or "webgpu"; gives the device, or a sentence that begins with an exclamation mark.
EMSCRIPTEN_KEEPALIVE const char* bench_start(const char* backend) {
  using namespace tessera;
  try {
    const auto kind = std::string(backend) == "webgl" ? BackendKind::gles : BackendKind::webgpu;
    const Context gpu = Context::create({.prefer = {kind}});
    said = gpu.device().driver;
    answers = std::make_unique<compare::Answers>(compare::tessera_workloads(gpu, ""));
  } catch (const std::exception& error) {
    said = std::string("! ") + error.what();
  }
  return said.c_str();
}

// A line of JSON for a line, as peer.h tells.
EMSCRIPTEN_KEEPALIVE const char* bench_answer(const char* line) {
  said = (*answers)(line);
  return said.c_str();
}

}  // extern "C"

int main() {}
