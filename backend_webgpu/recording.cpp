#include "backend_webgpu/recording.h"

#include "backend_webgpu/backend.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/run/batch.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {

Recording::Recording(std::string_view op, ContextState& context, WebGpuBackend& backend, WGPUCommandEncoder encoder)
    : context_(context), backend_(backend), submits_before_(context.stats.submits) {
  if (!encoder) fail(ErrorCode::invalid_argument, op, "the command encoder is null.");
  context_.pool->begin_recording();
  backend_.record_into(encoder);
}

Recording::~Recording() {
  backend_.record_into(nullptr);
  context_.pool->end_recording();
  context_.stats.submits = submits_before_;  // the host submits
}

void encode(std::span<const Tensor> tensors, WGPUCommandEncoder encoder) {
  constexpr std::string_view op = "webgpu::encode";
  if (tensors.empty()) return;
  for (const Tensor& tensor : tensors)
    if (TensorAccess::info(tensor).context != TensorAccess::info(tensors[0]).context)
      fail(ErrorCode::invalid_argument, op, "the tensors belong to several contexts; encode those of one at a time.");
  const LockedContext locked(tensors[0]);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::encode: nothing was recorded, and the command encoder belongs to a lost device; make one on the device "
      "that webgpu::host_device() gives now, and encode again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(op, context);
        const Recording recording(op, context, backend, encoder);
        compute(context, tensors);
      });
}

void submitted(Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = present_backend<WebGpuBackend>("webgpu::submitted", impl);
  impl.pool->submitted();
  backend.submitted();
}

}  // namespace tessera::webgpu
