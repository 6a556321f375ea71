// The backend itself, as the rest of this folder sees it; core sees Backend.
#pragma once
#include <memory>
#include <span>

#include "backend_gles/device.h"
#include "backend_gles/host_pass.h"
#include "backend_gles/kernel_cache.h"
#include "backend_gles/shared_image.h"
#include "backend_gles/storage.h"
#include "backend_gles/timer.h"
#include "core/kernel/backend.h"

namespace tessera::gles {

class GlesBackend final : public Backend {
 public:
  static constexpr BackendKind kind = BackendKind::gles;

  explicit GlesBackend(std::shared_ptr<const Device>);

  const std::shared_ptr<const Device>& own_device() const { return device_; }

  const DeviceInfo& device() const override { return device_->info(); }
  Limits limits() const override { return device_->limits(); }
  KernelOrigins kernel_origins() const override { return kernels_.origins() + programs_.origins(); }
  KernelCount kernels() const override { return kernels_.count() + programs_.count(); }
  void trim() override;
  bool is_lost() const override { return device_->is_lost(); }
  void lose() override { device_->lose(); }

  StorageClass storage_class(const StorageSpec& spec) const override { return class_of(spec); }
  std::optional<StorageSpec> shared_by(const StorageSpec& a, const StorageSpec& b) const override {
    return gles::shared_by(a, b);
  }
  std::unique_ptr<Storage> allocate(const StorageSpec&) override;
  void upload(Storage&, DType, std::span<const std::byte> elements) override;
  std::unique_ptr<Download> download(const Storage&, DType, std::int64_t first, std::int64_t count) override;
  std::unique_ptr<Download> download_at_once(const Storage&, DType, std::int64_t first, std::int64_t count) override;
  void prepare(const Dispatch&) override;
  bool prepare_beside(const Dispatch&) override;
  void run(std::span<const Dispatch>, std::optional<std::uint64_t> timed_as) override;
  void wait() override;
  std::unique_ptr<Mark> mark() override;
  const VulkanDriver* shares_images_of() override;
  std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<SharedImage>&) override;
  std::unique_ptr<ImportedVulkanImage> import_image(const VulkanHostImage&) override;
  std::string why_no_images() override;
  DmaBufs dma_bufs() override;
  std::uint64_t layout_of(const ImageSpec&) const override;
  bool is_laid_out_as(const Storage&, const ImageSpec&) const override;
  bool can_time() const override { return can_time_; }
  std::vector<TimedRun> take_times(bool wait) override;

 private:
  const CompiledKernel* prepared(const Dispatch&);  // null for a custom kernel
  void draw(const CompiledKernel&, const Dispatch&, bool flip) const;
  PassTools tools() {
    return {*device_,
            programs_,
            copies_,
            {nearest_sampler_.get(), level_sampler_.get(), linear_sampler_.get()},
            scratch_framebuffer_.get()};
  }

  std::shared_ptr<const Device> device_;
  KernelCache kernels_;
  PassPrograms programs_;
  CopyTextures copies_;
  VertexArray vertex_array_;                // empty: the triangle's corners are computed from gl_VertexID
  Sampler nearest_sampler_;                 // keeps filters of a host's textures and samplers from changing texels
  Sampler level_sampler_, linear_sampler_;  // see PassTools
  Framebuffer scratch_framebuffer_;
  TimedRuns<TimedQueries> timed_;
  bool can_time_ = false;
  bool can_be_flipped_ = false;  // by a host that calls glClipControl: the end of an output lies elsewhere then
  std::shared_ptr<const SharingFunctions> sharing_;  // null until it is asked for
  bool is_sharing_known_ = false;
};

}  // namespace tessera::gles
