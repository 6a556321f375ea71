// tessera as a peer of bench/compare.
//
//   compare_tessera webgpu|gles DRIVER [MODELS]     part of a driver's name; the folder of the networks
#include "tessera_workloads.h"

using namespace tessera;

int main(int argc, char** argv) {
  try {
    const std::string backend = argc > 1 ? argv[1] : "webgpu", driver = argc > 2 ? argv[2] : "";
    Context gpu =
        Context::create({.prefer = {backend == "gles" ? BackendKind::gles : BackendKind::webgpu}, .driver = driver});
    const std::string device = gpu.device().driver;
    compare::serve(device, compare::tessera_workloads(gpu, argc > 3 ? argv[3] : ""));
  } catch (const std::exception& error) {
    compare::fail(error.what());
    return 1;
  }
}
