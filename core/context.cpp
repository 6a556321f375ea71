#include <tessera/context.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <utility>

#include "core/batch.h"
#include "core/context_impl.h"
#include "core/pointwise.h"
#include "core/sizes.h"

namespace tessera {

Context ContextAccess::make(const ContextOptions& options, OpenBackend open, bool is_hosts) {
  return Context(std::make_shared<ContextImpl>(options, std::move(open), is_hosts));
}

Context Context::create(const ContextOptions& options) { return ContextAccess::make(options, open_backend, false); }

BackendKind Context::backend() const { return device().backend; }

const DeviceInfo& Context::device() const {
  const Session session(*impl_, Session::Closed::allowed);
  return impl_->devices.back();
}

Tensor Context::tensor(const Shape& shape, std::initializer_list<float> values) {
  return tensor(shape, DType::f32, std::as_bytes(std::span(values.begin(), values.size())));
}

Tensor Context::tensor(const Shape& shape, DType dtype, std::span<const std::byte> elements) {
  if (elements.size() != byte_count(shape.size(), dtype))
    throw Error(ErrorCode::invalid_argument,
                "tensor: a shape of " + shape.to_string() + " has " + std::to_string(shape.size()) + " elements, but " +
                    std::to_string(elements.size() / size_of(dtype)) + " values were given.");
  HostValues values{with_host_memory("tensor", [&] { return std::vector(elements.begin(), elements.end()); })};
  // What reads booleans relies on 0 and 1.
  if (dtype == DType::boolean)
    for (std::byte& value : values.elements) value = value == std::byte{0} ? std::byte{0} : std::byte{1};
  return TensorAccess::tensor(std::make_shared<Node>(impl_.shared(), shape, dtype, std::move(values)));
}

Tensor Context::zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }

Tensor Context::full(const Shape& shape, double value, DType dtype) {
  return TensorAccess::tensor(number_node("full", impl_.shared(), shape, dtype, value));
}

void Context::compute(std::span<const Tensor> tensors) {
  std::vector<NodePtr> nodes;
  for (const Tensor& tensor : tensors) {
    nodes.push_back(TensorAccess::node(tensor));
    if (nodes.back()->context != impl_.shared())
      throw Error(ErrorCode::invalid_argument, "compute: a tensor of " + nodes.back()->context->device_name() +
                                                   " was given to a context on " + impl_->device_name() + ".");
  }
  const Session session(*impl_);
  impl_->resilient([&] { tessera::compute(*impl_, nodes); });
}

void Context::switch_backend(BackendKind kind, std::string_view driver) {
  switch_backend(kind, SwitchOptions{.driver = std::string(driver)});
}

void Context::switch_backend(BackendKind kind, const SwitchOptions& wanted) {
  const Session session(*impl_);
  if (!wanted.take_back_lent) impl_->require_nothing_lent();
  ContextOptions options = impl_->options;
  options.prefer = {kind};
  options.driver = wanted.driver;
  options.device = wanted.device;
  impl_->switch_to(options);
}

void Context::close() {
  impl_->background.wait_until_idle();
  const Session session(*impl_, Session::Closed::allowed);
  impl_->close();
}

void Context::wait() {
  const Session session(*impl_, Session::Closed::allowed);
  impl_->resilient([&] { impl_->backend->wait(); });
  impl_->pool->collect();
}

void Context::trim() {
  const Session session(*impl_, Session::Closed::allowed);
  impl_->trim();
}

void ContextImpl::trim() {
  pool->trim();
  crossings.trim();
  plans.clear();
  backend->trim();
#ifdef __GLIBC__
  malloc_trim(0);  // software drivers have their kernels on the heap, which keeps what was freed in the middle of it
#endif
}

MemoryInfo Context::memory() const {
  const Session session(*impl_, Session::Closed::allowed);
  return impl_->memory_now();
}

MemoryInfo ContextImpl::memory_now() const {
  MemoryInfo info = pool->info();
  const KernelCount count = backend->kernels();
  info.kernels = count.kernels;
  info.kernel_bytes = count.text_bytes;
  return info;
}

std::vector<Resident> Context::why_resident(std::uint64_t at_least) const {
  const Session session(*impl_, Session::Closed::allowed);
  return impl_->pool->why_resident(at_least);
}

Stats ContextImpl::stats_now() const {
  Stats now = stats;
  now.kernels_compiled = backend->kernels_compiled() - kernels_compiled_before;
  now.plans_reused = plans.hits() - plans_reused_before;
  return now;
}

Stats Context::stats() const {
  const Session session(*impl_, Session::Closed::allowed);
  return impl_->stats_now();
}

void Context::reset_stats() {
  const Session session(*impl_, Session::Closed::allowed);
  impl_->stats = {};
  impl_->kernels_compiled_before = impl_->backend->kernels_compiled();
  impl_->plans_reused_before = impl_->plans.hits();
  impl_->pool->reset_peak();
}

}  // namespace tessera
