#include "backend_webgpu/recording.h"

#include "backend_webgpu/backend.h"
#include "core/backend_of.h"
#include "core/fail.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {

Recording::Recording(std::string_view op, ContextImpl& context, WebGpuBackend& backend, WGPUCommandEncoder encoder)
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
  std::vector<NodePtr> nodes;
  for (const Tensor& tensor : tensors) nodes.push_back(TensorAccess::node(tensor));
  if (nodes.empty()) return;
  ContextImpl& context = *nodes[0]->context;
  for (const NodePtr& node : nodes)
    if (node->context.get() != &context)
      fail(ErrorCode::invalid_argument, op, "the tensors belong to several contexts; encode those of one at a time.");
  const Session session(context);
  context.on_this_device(
      "webgpu::encode: nothing was recorded, and the command encoder belongs to a lost device; make one on the device "
      "that webgpu::host_device() gives now, and encode again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(op, context);
        const Recording recording(op, context, backend, encoder);
        compute(context, nodes);
      });
}

void submitted(Context& context) {
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  WebGpuBackend& backend = present_backend<WebGpuBackend>("webgpu::submitted", impl);
  impl.pool->submitted();
  backend.submitted();
}

}  // namespace tessera::webgpu
