// Tensors on their way from one context to another: through an image that both devices see where their drivers can
// share memory, through the host elsewhere.
//
// A crossing holds one context's lock at a time: the source's while it writes the image, then the target's while it
// reads. So crossings both ways on two threads cannot block each other.
#include <algorithm>
#include <optional>
#include <string>

#include "core/base/sizes.h"
#include "core/graph/graph.h"
#include "core/interop/interop.h"
#include "core/run/batch.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

using DeviceToken = std::shared_ptr<const void>;

struct End {
  std::optional<VulkanDriver> driver;  // none where images cannot be shared
  DeviceToken device;
};

End end_of(ContextImpl& impl) {
  const LockedContext context(impl);
  End end{std::nullopt, context->images.device()};
  try {
    if (const VulkanDriver* driver = context->backend->shares_images_of()) end.driver = *driver;
  } catch (const Error&) {  // a lost device; the way through the host replaces it
  }
  return end;
}

// An image that one crossing has taken. It is abandoned unless the crossing gives it back: after an error nobody knows
// what the devices still do with it.
class TakenImage {
 public:
  TakenImage() = default;
  explicit TakenImage(std::shared_ptr<SharedImage> image) : image_(std::move(image)) {}
  TakenImage(TakenImage&&) = default;
  TakenImage& operator=(TakenImage&&) = delete;
  ~TakenImage() {
    if (image_) image_->abandon();
  }

  const std::shared_ptr<SharedImage>& get() const { return image_; }
  void give_back() { keep()->give_back(); }
  std::shared_ptr<SharedImage> keep() { return std::exchange(image_, nullptr); }  // another gives it back

 private:
  std::shared_ptr<SharedImage> image_;
};

// The image that a tensor came in keeps its elements.
class ImageBackup final : public Backup {
 public:
  ImageBackup(std::shared_ptr<SharedImage> image, std::int64_t elements)
      : image_(std::move(image)), elements_(elements) {}
  ~ImageBackup() override { image_->give_back(); }
  ImageBackup(const ImageBackup&) = delete;
  ImageBackup& operator=(const ImageBackup&) = delete;

  void restore(Backend& backend, Storage& storage) const override {
    if (!backend.shares_images_of())
      throw Error(ErrorCode::device_lost, "A tensor that came from another context was lost with its device, and " +
                                              backend.device().name + " cannot read the memory it came in.");
    backend.import_image(image_)->read(storage, elements_);
  }

 private:
  std::shared_ptr<SharedImage> image_;
  std::int64_t elements_;
};

// The node, or a copy of it, computed in a storage that is laid out as the image.
NodePtr laid_out(ContextState& context, const NodePtr& node, const ImageSpec& spec) {
  const std::uint64_t layout = context.backend->layout_of(spec);
  const Wanted wanted{node, layout};
  compute(context, std::span(&wanted, 1));
  const Value& value = node->value;
  context.pool->use(*value.buffer);
  const bool is_whole = value.offset == 0 && value.buffer->elements() == node->shape.size();
  if (is_whole && context.backend->is_laid_out_as(value.buffer->storage(), spec)) return node;
  const Wanted copy{copy_of(node), layout};
  compute(context, std::span(&copy, 1));
  return copy.node;
}

// The reason why devices cannot share memory. Want of memory and lost devices are none: the way through the host copes
// with them, or tells.
std::string failure(const Error& error) {
  const bool is_passing = error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device_lost;
  return is_passing ? "" : error.what();
}

// Throws the error of computing the tensor, as reading it would; `failed` gets the reason why it is not in an image.
TakenImage written(const Tensor& tensor, const ImageSpec& spec, const End& source, const DeviceToken& target,
                   std::string& failed) {
  const LockedContext context(tensor);
  const NodePtr& node = TensorAccess::node(*context, tensor);
  if (location_of(node.get()).node->is<HostValues>()) return {};
  const NodePtr ready = context->recovery.run([&] { return laid_out(*context, node, spec); });
  context->pool->require_submitted(*ready->value.buffer);
  if (context->images.device() != source.device) return {};
  try {
    context->about_to_submit();
    TakenImage image(context->images.take_image(*source.driver, spec, target));
    context->images.imported(*context->backend, image.get(), target)
        .write(ready->value.buffer->storage(), node->shape.size());
    context->submitted();
    return image;
  } catch (const Error& error) {
    failed = failure(error);
    return {};
  }
}

Tensor read_from(TakenImage image, ContextState& target, const Shape& shape, DType dtype, const DeviceToken& source) {
  const StorageSpec spec{dtype, shape.size(), target.backend->layout_of(image.get()->spec)};
  const std::uint64_t bytes = byte_count(shape.size(), dtype);
  if (bytes > target.backend->device().max_tensor_bytes)
    throw Error(ErrorCode::out_of_memory, "to: a tensor of " + std::to_string(bytes) + " bytes does not fit on " +
                                              target.backend->device().name + ".");
  target.pool->begin_batch();
  auto node = make_node(target.owner.shared_from_this(), shape, dtype, Computed{});
  const std::shared_ptr<Buffer> buffer = target.pool->acquire(spec, Pool::Use::kernels);
  buffer->made_by("to");
  buffer->add_user(node);
  target.images.throw_where_it_should_fail();
  target.about_to_submit();
  target.images.imported(*target.backend, image.get(), source).read(buffer->storage(), shape.size());
  target.submitted();
  target.stats.moves_on_device += 1;
  if (target.recovery.keeps_lineage())
    target.pool->set_backup(*buffer, std::make_unique<ImageBackup>(image.keep(), shape.size()));
  else image.give_back();
  target.pool->collect();
  node->value.buffer = buffer;
  return TensorAccess::tensor(std::move(node));
}

std::optional<Tensor> moved_on_device(const Tensor& tensor, ContextImpl& target_impl) {
  const NodeInfo& info = TensorAccess::info(tensor);
  if (info.shape.size() == 0) return {};
  const End from = end_of(*info.context), to = end_of(target_impl);
  if (!from.driver || !to.driver || from.driver->manifest != to.driver->manifest) return {};
  if (LockedContext(target_impl)->images.is_refused(from.device)) return {};
  std::string failed;
  TakenImage image = written(tensor, image_for(info.dtype, info.shape.size()), from, to.device, failed);
  if (!image.get() && failed.empty()) return {};
  const LockedContext target(target_impl);
  try {
    if (image.get() && target->images.device() == to.device)
      return read_from(std::move(image), *target, info.shape, info.dtype, from.device);
  } catch (const Error& error) {
    failed = failure(error);
  }
  if (failed.empty()) return {};
  target->images.refuse(from.device);
  target_impl.messages->add(Message::Level::warning,
                            "to: the memory that the devices share could not be used (" + failed +
                                "); tensors between the two contexts go through the host from now on.");
  return {};
}

Tensor moved_through_host(const Tensor& tensor, Context& target_context) {
  const NodeInfo& info = TensorAccess::info(tensor);
  std::vector<std::byte> elements(byte_count(info.shape.size(), info.dtype));
  if (!elements.empty()) {
    const LockedContext context(tensor);
    context->recovery.run([&] {
      const auto download = start_download(*context, TensorAccess::node(*context, tensor), Taken::at_once);
      download->wait();
      download->take(elements);
    });
  }
  Tensor moved = target_context.tensor(info.shape, info.dtype, elements);
  if (elements.empty()) return moved;
  const LockedContext target(target_context);
  target->stats.moves_through_host += 1;
  target->owner.messages->debug([&] {
    return "to: a tensor of " + std::to_string(elements.size()) + " bytes came to " + target->backend->device().name +
           " through the host.";
  });
  return moved;
}

}  // namespace

Tensor Tensor::to(Context& other) const {
  ContextImpl& target = ContextAccess::impl(other);
  if (&target == TensorAccess::info(*this).context.get()) return *this;
  if (std::optional<Tensor> moved = moved_on_device(*this, target)) return *std::move(moved);
  return moved_through_host(*this, other);
}

}  // namespace tessera
