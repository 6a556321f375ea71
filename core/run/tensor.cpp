#include <tessera/tensor.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/sizes.h"
#include "core/graph/graph.h"
#include "core/run/batch.h"
#include "core/run/context_impl.h"
#include "core/run/monitor.h"
#include "core/run/pending_work.h"
#include <tessera/pointwise.h>

namespace tessera {
namespace {

template <class From, class T>
void convert(const std::vector<std::byte>& elements, std::vector<T>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, elements.data() + i * sizeof(From), sizeof(From));
    out[i] = static_cast<T>(value);
  }
}

std::size_t bytes_of(const NodeInfo& node) { return byte_count(node.shape.size(), node.dtype); }

// Elements in order, as values of type T: without a copy in between where that is the tensor's own type. `take` fills a
// span of bytes with them.
template <Element T, class Take>
std::vector<T> taken(const Take& take, std::size_t count, DType dtype) {
  std::vector<T> out(count);
  if constexpr (!std::is_same_v<T, bool>) {
    if (dtype_of<T>() == dtype) {
      take(std::as_writable_bytes(std::span(out)));
      return out;
    }
  }
  std::vector<std::byte> elements(count * size_of(dtype));
  take(std::span(elements));
  switch (dtype) {
    case DType::f32: convert<float>(elements, out); break;
    case DType::f16: convert<half>(elements, out); break;
    case DType::i32: convert<std::int32_t>(elements, out); break;
    case DType::i8: convert<std::int8_t>(elements, out); break;
    case DType::u8:
    case DType::boolean: convert<std::uint8_t>(elements, out); break;
  }
  return out;
}

// Likewise, of a download that is ready; without a pass that clears the vector before where its elements come in parts.
template <Element T>
std::vector<T> taken(Download& download, std::size_t count, DType dtype) {
  if constexpr (!std::is_same_v<T, bool>) {
    std::vector<T> out;
    if (dtype_of<T>() == dtype)
      for (auto part = download.next_part(); !part.empty(); part = download.next_part()) {
        out.reserve(count);
        const auto* first = reinterpret_cast<const T*>(part.data());
        out.insert(out.end(), first, first + part.size() / sizeof(T));
      }
    if (!out.empty()) return out;
  }
  return taken<T>([&](std::span<std::byte> to) { download.take(to); }, count, dtype);
}

template <Element T>
void check_readable(const NodeInfo& node) {
  if (dtype_of<T>() == node.dtype || dtype_of<T>() == DType::f32) return;
  throw Error(ErrorCode::dtype_mismatch, "read: a tensor of " + std::string(to_string(node.dtype)) +
                                             " cannot be read as " + std::string(to_string(dtype_of<T>())) +
                                             "; read its own type or float, or cast it first.");
}

// The download of a tensor that moved to the host.
class HostCopy final : public Download {
 public:
  explicit HostCopy(std::span<const std::byte> elements) : elements_(elements.begin(), elements.end()) {}
  bool ready() override { return true; }
  void wait() override {}
  void take(std::span<std::byte> to) override { std::ranges::copy(elements_, to.begin()); }
  std::span<const std::byte> next_part() override {
    return std::exchange(is_given_, true) ? std::span<const std::byte>() : elements_;
  }

 private:
  std::vector<std::byte> elements_;
  bool is_given_ = false;
};

// Downloads until that succeeds or fails: a device that is lost on the way is replaced. `take` runs on the context's
// background thread, which holds the lock.
// The node needs no hold: the copy is under way when its storage gets other elements.
void download_later(ContextState& context, const NodePtr& node, const std::function<void(Download&)>& take,
                    const std::shared_ptr<BackgroundWork>& work) {
  auto started = start_download(context, node);
  const auto finish = [node, take, work, epoch = context.epoch](ContextState& later, Download* download,
                                                                const std::exception_ptr& error) {
    const auto complete = [&](const std::exception_ptr& failure) {
      --later.background_reads;
      work->complete(failure);
    };
    try {
      if (error) std::rethrow_exception(error);
      take(*download);
      return complete(nullptr);
    } catch (...) {
      // The lost device may have been replaced since.
      const bool device_went = later.backend->is_lost() || later.epoch != epoch;
      if (!device_went) return complete(std::current_exception());
    }
    try {
      later.recovery.run([&] { download_later(later, node, take, work); });
    } catch (...) {
      complete(std::current_exception());
    }
  };
  context.owner.background.add(std::move(started), finish, [work] { work->tell(); });
}

// The caller finishes the read, on the thread with the host's context. A device of tessera's own that was lost
// meanwhile is replaced there.
template <Element T>
Pending<std::vector<T>> read_by_host(ContextState& context, const NodePtr& node) {
  const auto read =
      context.recovery.run([&] { return std::make_shared<HostRead>(start_download(context, node), bytes_of(*node)); });
  context.reads_under_way();  // forgets those that are done
  context.host_reads.push_back(read);
  auto value = std::make_shared<std::optional<std::vector<T>>>();
  const auto finish = [read, value, again = context.is_hosts ? NodePtr() : node, count = node->shape.size(),
                       dtype = node->dtype](ContextState& later) {
    const HostTime reading(later, HostWork::read);
    const auto take = [&](std::span<std::byte> to) {
      try {
        return read->take(to);
      } catch (const Error& error) {
        if (!again || error.code() != ErrorCode::device_lost) throw;
      }
      later.recovery.run([&] { HostRead(start_download(later, again), to.size()).take(to); });
    };
    *value = taken<T>(take, static_cast<std::size_t>(count), dtype);
  };
  auto work = std::make_shared<CallersWork>(
      node->context,
      CallersWork::Steps{.is_ready = [read](ContextState&) { return read->is_ready(); }, .finish = finish});
  return {std::move(work), std::move(value)};
}

}  // namespace

std::unique_ptr<Download> start_download(ContextState& context, const NodePtr& node, Taken taken) {
  compute(context, node);
  const std::int64_t offset = node->value.offset;
  Buffer& buffer = *node->value.buffer;
  if (!buffer.is_resident() && buffer.has_host_copy())
    return std::make_unique<HostCopy>(buffer.host_copy().subspan(byte_count(offset, node->dtype), bytes_of(*node)));
  context.pool->use(buffer);
  context.pool->require_submitted(buffer);
  context.about_to_submit();
  Backend& backend = *context.backend;
  auto download = taken == Taken::at_once
                      ? backend.download_at_once(buffer.storage(), node->dtype, offset, node->shape.size())
                      : backend.download(buffer.storage(), node->dtype, offset, node->shape.size());
  context.submitted();
  context.stats.bytes_downloaded += bytes_of(*node);
  return download;
}

const Shape& Tensor::shape() const { return TensorAccess::info(*this).shape; }
DType Tensor::dtype() const { return TensorAccess::info(*this).dtype; }

BackendKind Tensor::backend() const {
  const LockedContext context(*this);
  return context->backend->device().backend;
}

bool Tensor::is_computed() const {
  const LockedContext context(*this);
  const NodePtr& node = TensorAccess::node(*context, *this);
  return node->value.buffer || node->is<Computed>() || node->shape.size() == 0;
}

Tensor Tensor::add(const Tensor& other) const { return *this + other; }
Tensor Tensor::add(double number) const { return *this + number; }
Tensor Tensor::sub(const Tensor& other) const { return *this - other; }
Tensor Tensor::sub(double number) const { return *this - number; }
Tensor Tensor::mul(const Tensor& other) const { return *this * other; }
Tensor Tensor::mul(double number) const { return *this * number; }
Tensor Tensor::div(const Tensor& other) const { return *this / other; }
Tensor Tensor::div(double number) const { return *this / number; }
Tensor Tensor::square() const { return tessera::square(*this); }

Tensor Tensor::reshape(const Shape& shape) const {
  const NodeInfo& node = TensorAccess::info(*this);
  if (shape.size() != node.shape.size())
    throw Error(ErrorCode::shape_mismatch, "reshape: " + node.shape.to_string() + " has " +
                                               std::to_string(node.shape.size()) + " elements, " + shape.to_string() +
                                               " has " + std::to_string(shape.size()) + ".");
  return TensorAccess::tensor(
      make_node(node.context, shape, node.dtype, View{}, std::vector{TensorAccess::held(*this)}));
}

Tensor Tensor::cast(DType dtype) const {
  const NodeInfo& node = TensorAccess::info(*this);
  if (dtype == node.dtype) return *this;
  return TensorAccess::tensor(
      make_node(node.context, node.shape, dtype, Cast{}, std::vector{TensorAccess::held(*this)}));
}

const Tensor& Tensor::compute() const& {
  const LockedContext context(*this);
  context->recovery.run([&] { tessera::compute(*context, TensorAccess::node(*context, *this)); });
  return *this;
}

Tensor Tensor::compute() && {
  std::as_const(*this).compute();
  return std::move(*this);
}

template <Element T>
std::vector<T> Tensor::read() const {
  const NodeInfo& node = TensorAccess::info(*this);
  check_readable<T>(node);
  if (node.shape.size() == 0) return {};
  const LockedContext context(*this);
  return context->recovery.run([&] {
    const auto download = start_download(*context, TensorAccess::node(*context, *this), Taken::at_once);
    const HostTime reading(*context, HostWork::read);
    download->wait();
    return taken<T>(*download, static_cast<std::size_t>(node.shape.size()), node.dtype);
  });
}

template <Element T>
Pending<std::vector<T>> Tensor::read_async() const {
  const NodeInfo& node = TensorAccess::info(*this);
  check_readable<T>(node);
  if (node.shape.size() == 0) return Pending<std::vector<T>>::done();
  const LockedContext context(*this);
  const NodePtr& own = TensorAccess::node(*context, *this);
  if (!context->works_beside()) return read_by_host<T>(*context, own);
  auto value = std::make_shared<std::optional<std::vector<T>>>();
  const auto take = [value, count = node.shape.size(), dtype = node.dtype](Download& download) {
    *value = taken<T>(download, static_cast<std::size_t>(count), dtype);
  };
  auto work = std::make_shared<BackgroundWork>();
  context->recovery.run([&] { download_later(*context, own, take, work); });
  ++context->background_reads;
  return {std::move(work), std::move(value)};
}

const Tensor& Tensor::label(std::string name) const& {
  const LockedContext context(*this);
  TensorAccess::node(*context, *this)->label = std::move(name);
  return *this;
}

Tensor Tensor::label(std::string name) && {
  std::as_const(*this).label(std::move(name));
  return std::move(*this);
}

void Tensor::dispose() { held_.reset(); }

#define TESSERA_READ(T)                                        \
  template TESSERA_API std::vector<T> Tensor::read<T>() const; \
  template TESSERA_API Pending<std::vector<T>> Tensor::read_async<T>() const;
TESSERA_READ(float)
TESSERA_READ(half)
TESSERA_READ(std::int32_t)
TESSERA_READ(std::int8_t)
TESSERA_READ(std::uint8_t)
TESSERA_READ(bool)
#undef TESSERA_READ

}  // namespace tessera
