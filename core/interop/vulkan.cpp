// vulkan::create, attach, from_image and to_image, for every backend whose device can import images.
#include <algorithm>
#include <optional>
#include <string>

#include "core/base/fail.h"
#include "core/interop/interop.h"
#include "core/kernel/host_image.h"
#include "core/kernel/vulkan_images.h"

namespace tessera::vulkan {
namespace {

constexpr std::string_view attach_op = "vulkan::attach", from_image_op = "vulkan::from_image",
                           to_image_op = "vulkan::to_image";
constexpr std::uint32_t usage_sampled = 4, usage_color_attachment = 0x10;

// Throws unsupported where memory and semaphores of the host's driver cannot come to the context's device.
void require_same_gpu(std::string_view op, Backend& backend, const VulkanIds& host) {
  const std::string& name = backend.device().name;
  const VulkanDriver* driver = backend.shares_images_of();
  if (!driver)
    fail(ErrorCode::unsupported, op,
         name + " (" + backend.device().driver + ") cannot take images of another device: " + backend.why_no_images() +
             ".");
  const std::vector<VulkanIds> devices = vulkan_ids(*driver);
  if (devices.empty()) fail(ErrorCode::unsupported, op, "the Vulkan loader does not tell which GPU " + name + " is.");
  if (std::ranges::none_of(devices, [&](const VulkanIds& each) { return each.matches(host); }))
    fail(ErrorCode::unsupported, op,
         "the context is on " + name + ", and the host's device on " + host.name +
             ": another GPU or another driver (VkPhysicalDeviceIDProperties). Open the context with vulkan::create(), "
             "which looks for the host's GPU.");
  if (devices.size() > 1)
    fail(ErrorCode::unsupported, op,
         "the driver " + driver->manifest.filename().string() + " has " + std::to_string(devices.size()) +
             " devices, so that it is not clear which one " + name + " is.");
}

// Throws unsupported where memory of the host's device cannot come to the context's.
VulkanOrder order_with(std::string_view op, Backend& backend, const VulkanIds& host, bool has_dma_bufs) {
  if (!has_dma_bufs) {
    require_same_gpu(op, backend, host);
    return VulkanOrder::semaphores;
  }
  const Backend::DmaBufs dma_bufs = backend.dma_bufs();
  if (!dma_bufs.why_not.empty())
    fail(ErrorCode::unsupported, op,
         backend.device().name + " (" + backend.device().driver + ") takes no dma-bufs: " + dma_bufs.why_not + ".");
  if (dma_bufs.has_sync_files) return VulkanOrder::sync_files;
  try {
    require_same_gpu(op, backend, host);
    return VulkanOrder::semaphores;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return VulkanOrder::waiting;  // memory comes from any driver, and semaphores do not
  }
}

const VulkanHost& require_host(std::string_view op, const ContextState& context) {
  if (!context.vulkan_images->host())
    fail(ErrorCode::invalid_argument, op,
         "the context has no Vulkan host; open it with vulkan::create(), or call vulkan::attach() first.");
  return *context.vulkan_images->host();
}

std::shared_ptr<SharedVulkanImage> shared_image(std::string_view op, ContextState& context, const Image& image) {
  const VulkanHost& host = require_host(op, context);
  if (context.backend->is_lost() && !context.is_hosts) context.recovery.replace_device();
  if (!context.vulkan_images->order)
    context.vulkan_images->order = order_with(op, *context.backend, host.ids(), host.has_dma_bufs());
  return context.vulkan_images->get(op, image, *context.backend);
}

void require_usage(std::string_view op, const VulkanHostImage& image, std::uint32_t usage, const char* name) {
  if (!(image.usage() & usage))
    fail(ErrorCode::invalid_argument, op,
         "the image lacks the usage " + std::string(name) + "; it was made with " + std::to_string(image.usage()) +
             ". Add it to VkImageCreateInfo::usage.");
}

TexturePart part_of(std::string_view op, const TexturePart& part, const VulkanHostImage& image) {
  return checked_part(op, part, {.width = image.width(), .height = image.height(), .levels = 1});
}

void add(std::vector<Semaphore>& semaphores, std::string_view op, const std::vector<Semaphore>& more) {
  for (const Semaphore& each : more)
    if (!each.semaphore) fail(ErrorCode::invalid_argument, op, "a semaphore is null.");
  semaphores.insert(semaphores.end(), more.begin(), more.end());
}

}  // namespace

Context create(const HostDevice& host, const ContextOptions& options) {
  std::string reasons;
  std::optional<Context> waiting;  // for the host's queue; another device may have semaphores
  for (const BackendKind kind : options.prefer) {
    if (kind == BackendKind::cpu) continue;
    for (const DeviceInfo& device : Context::devices()) {
      if (device.backend != kind) continue;
      if (!contains_ignoring_case(device.name, options.driver) &&
          !contains_ignoring_case(device.driver, options.driver))
        continue;
      ContextOptions one = options;
      one.prefer = {kind};
      one.driver = device.driver;
      try {
        Context context = Context::create(one);
        attach(context, host);
        if (LockedContext(context)->vulkan_images->order != VulkanOrder::waiting) return context;
        if (!waiting) waiting = std::move(context);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument) throw;
        reasons += "\n  " + std::string(error.what());
      }
    }
  }
  if (waiting) return std::move(*waiting);
  fail(ErrorCode::unsupported, "vulkan::create",
       reasons.empty() ? "there is no device of the preferred backends."
                       : "no device can share images with the host:" + reasons);
}

void attach(Context& context, const HostDevice& host) {
  const LockedContext locked(context);
  const VulkanOrder order =
      order_with(attach_op, *locked->backend, vulkan_ids(attach_op, host), host.memory_handle_type == handle_dma_buf);
  locked->vulkan_images->set_host(std::make_shared<const VulkanHost>(attach_op, host));
  locked->vulkan_images->order = order;
}

void detach(Context& context) {
  LockedContext(context, LockedContext::Closed::allowed)->vulkan_images->set_host(nullptr);
}

void forget(Context& context, VkImage image) {
  LockedContext(context, LockedContext::Closed::allowed)->vulkan_images->forget(image);
}

Tensor from_image(Context& context, const Image& image, const FromImage& options) {
  const LockedContext locked(context);
  const std::shared_ptr<SharedVulkanImage> shared = shared_image(from_image_op, *locked, image);
  check_channels(from_image_op, options.channels);
  if (is_depth(options.channels) || is_stencil(options.channels))
    fail(ErrorCode::unsupported, from_image_op,
         "the channels are \"" + options.channels + "\"; only colours of a Vulkan host's image can be read.");
  require_usage(from_image_op, shared->host(), usage_sampled, "VK_IMAGE_USAGE_SAMPLED_BIT");
  const TexturePart part = part_of(from_image_op, options.part, shared->host());
  if (options.layout == layout_undefined)
    fail(ErrorCode::invalid_argument, from_image_op,
         "the layout is VK_IMAGE_LAYOUT_UNDEFINED, in which an image has no pixels; name the one that it is in.");
  auto source = shared->imported().source(from_image_op, options.channels, options.dtype, part);
  source->access = shared;
  add(shared->waits, from_image_op, options.wait);
  shared->layout = shared->layout_after = options.layout;
  const Shape shape{part.height, part.width, std::ssize(options.channels)};
  return imported_tensor(*locked, shape, options.dtype, std::move(source));
}

void to_image(const Tensor& tensor, const Image& image, const ToImage& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  const HostImage pixels = host_image(to_image_op, tensor);
  const std::shared_ptr<SharedVulkanImage> shared = shared_image(to_image_op, context, image);
  require_usage(to_image_op, shared->host(), usage_color_attachment, "VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT");
  if (!shared->host().format().is_float)
    fail(ErrorCode::unsupported, to_image_op,
         "the image has the format " + std::string(shared->host().format().name) +
             "; only float and normalised ones can be written.");
  if (options.layout_after == layout_undefined)
    fail(ErrorCode::invalid_argument, to_image_op,
         "layout_after is VK_IMAGE_LAYOUT_UNDEFINED; name the one in which the host needs the image.");
  const TexturePart part = part_of(to_image_op, options.part, shared->host());
  check_target(to_image_op, tensor, pixels, part.width, part.height);
  const std::unique_ptr<HostTarget> target = shared->imported().target(to_image_op, part, options.flip_y);
  target->access = shared;
  add(shared->waits, to_image_op, options.wait);
  add(shared->signals, to_image_op, options.signal);
  shared->layout = options.layout;
  shared->layout_after = options.layout_after;
  // What a failed call was to tell others, none of the next ones tells.
  struct Dropped {
    ~Dropped() { image.waits.clear(), image.signals.clear(); }
    SharedVulkanImage& image;
  } const dropped{*shared};
  context.recovery.run_on_this_device(
      "vulkan::to_image: nothing was written. The context is on a new device; read the images again "
      "(vulkan::from_image), "
      "and call again.",
      [&] { show(context, tensor, *target, options.also_compute); });
}

}  // namespace tessera::vulkan
