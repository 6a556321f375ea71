#include <tessera/context.h>

#include <utility>

#include "core/base/sizes.h"
#include "core/base/spare_memory.h"
#include "core/run/batch.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

// Does `work`, and calls back, after the lock, whoever waits for what callers do.
template <class Work>
auto telling(const Context& context, LockedContext::Closed closed, const Work& work) {
  std::vector<std::shared_ptr<CallersWork>> done;
  const auto result = [&] {
    const LockedContext locked(context, closed);
    const auto worked = work(*locked);
    done = locked->take_done_work();
    return worked;
  }();
  for (const std::shared_ptr<CallersWork>& each : done) each->tell();
  return result;
}

}  // namespace

Context ContextAccess::make(const ContextOptions& options, OpenBackend open, bool is_hosts) {
  return Context(std::make_shared<ContextImpl>(options, std::move(open), is_hosts));
}

ContextImpl::ContextImpl(const ContextOptions& options, OpenBackend open, bool is_hosts)
    : messages(std::make_shared<Messages>(options)),
      state_(*this, options, std::move(open), is_hosts),
      background(lock_, state_) {}

std::string ContextImpl::device_name() {
  const std::scoped_lock hold(lock_);
  return state_.backend->device().name;
}

LockedContext::LockedContext(ContextImpl& context, Closed closed) : context_(context), hold_(context.lock_) {
  if (closed == Closed::refused) context.state_.require_open();
  context.dropped.release_all([&](Node& node) { context.state_.recovery.release(node); });
}

LockedContext::LockedContext(const Context& context, Closed closed)
    : LockedContext(ContextAccess::impl(context), closed) {}

LockedContext::LockedContext(const Tensor& tensor, Closed closed)
    : LockedContext(*TensorAccess::info(tensor).context, closed) {}

LockedContext::~LockedContext() {
  hold_.unlock();
  context_.messages->deliver();
}

Context Context::create(const ContextOptions& options) { return ContextAccess::make(options, open_backend, false); }

BackendKind Context::backend() const { return device().backend; }

const DeviceInfo& Context::device() const {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  return context->devices.back();
}

Tensor Context::tensor(const Shape& shape, std::initializer_list<float> values) {
  return tensor(shape, DType::f32, std::as_bytes(std::span(values.begin(), values.size())));
}

Tensor Context::tensor(const Shape& shape, DType dtype, std::span<const std::byte> elements) {
  if (elements.size() != byte_count(shape.size(), dtype))
    throw Error(ErrorCode::invalid_argument,
                "tensor: a shape of " + shape.to_string() + " has " + std::to_string(shape.size()) + " elements, but " +
                    std::to_string(elements.size() / size_of(dtype)) + " values were given.");
  HostValues values{with_host_memory("tensor", [&] { return SpareMemory::all().copy_of(elements); })};
  // Kernels rely on booleans being 0 and 1.
  if (dtype == DType::boolean)
    for (std::byte& value : values.elements) value = value == std::byte{0} ? std::byte{0} : std::byte{1};
  return TensorAccess::tensor(make_node(impl_.shared(), shape, dtype, std::move(values)));
}

Tensor Context::zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }

Tensor Context::full(const Shape& shape, double value, DType dtype) {
  return TensorAccess::tensor(number_node("full", impl_.shared(), shape, dtype, value));
}

void Context::compute(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors)
    if (const NodeInfo& info = TensorAccess::info(tensor); info.context != impl_.shared())
      throw Error(ErrorCode::invalid_argument, "compute: a tensor of " + info.context->device_name() +
                                                   " was given to a context on " + impl_->device_name() + ".");
  const LockedContext context(*this);
  context->recovery.run([&] { tessera::compute(*context, tensors); });
}

void Context::switch_backend(BackendKind kind, std::string_view driver) {
  switch_backend(kind, SwitchOptions{.driver = std::string(driver)});
}

void Context::switch_backend(BackendKind kind, const SwitchOptions& wanted) {
  const LockedContext context(*this);
  if (!wanted.take_back_lent) context->require_nothing_lent();
  ContextOptions options = context->options;
  options.prefer = {kind};
  options.driver = wanted.driver;
  options.device = wanted.device;
  context->switch_to(options);
}

void Context::close() {
  {
    const LockedContext context(*impl_, LockedContext::Closed::allowed);
    context->trials.stop();
  }
  impl_->background.wait_until_idle();
  std::vector<std::shared_ptr<CallersWork>> done, never;
  {
    const LockedContext context(*this, LockedContext::Closed::allowed);
    context->close();
    done = context->take_done_work();
    never = std::exchange(context->callers_work, {});
  }
  for (const std::shared_ptr<CallersWork>& work : done) work->tell();
}

bool Context::prepare_some(std::chrono::microseconds at_most) {
  const auto deadline = Preparation::Clock::now() + at_most;
  return telling(*this, LockedContext::Closed::refused,
                 [&](ContextState& context) { return context.prepare_some(deadline); });
}

std::size_t Context::reads_under_way() const {
  return telling(*this, LockedContext::Closed::allowed,
                 [](ContextState& context) { return context.reads_under_way(); });
}

std::size_t Context::submissions_under_way() const {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  return context->backend->is_lost() ? 0 : context->pace.under_way(*context->backend);
}

void Context::wait() {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  context->recovery.run([&] { context->backend->wait(); });
  context->pace.forget();  // all is done
  context->pool->collect();
}

void Context::trim() {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  context->trim();
}

MemoryInfo Context::memory() const {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  return context->memory_now();
}

std::vector<Resident> Context::why_resident(std::uint64_t at_least) const {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  return context->why_resident(at_least);
}

Stats Context::stats() const {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  return context->stats_now();
}

void Context::reset_stats() {
  const LockedContext context(*this, LockedContext::Closed::allowed);
  context->stats = {};
  context->kernel_origins_before = context->backend->kernel_origins();
  context->plans_reused_before = context->plans.hits();
  context->pool->reset_peak();
}

}  // namespace tessera
