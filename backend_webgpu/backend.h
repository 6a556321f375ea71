// The backend itself, as the rest of this folder sees it; core sees Backend.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "backend_webgpu/download.h"
#include "backend_webgpu/host_objects.h"
#include "backend_webgpu/host_pass.h"
#include "backend_webgpu/host_views.h"
#include "backend_webgpu/kernel_cache.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/pixel_kernels.h"
#include "backend_webgpu/storage.h"
#include "backend_webgpu/submission_mark.h"
#include "backend_webgpu/timer.h"
#include "core/kernel/backend.h"

namespace tessera::webgpu {

class WebGpuBackend final : public Backend {
 public:
  static constexpr BackendKind kind = BackendKind::webgpu;

  explicit WebGpuBackend(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& device() const override { return device_->info(); }
  Limits limits() const override;

  StorageClass storage_class(const StorageSpec& spec) const override { return class_of(spec); }
  std::optional<StorageSpec> shared_by(const StorageSpec& a, const StorageSpec& b) const override {
    return webgpu::shared_by(a, b);
  }
  std::unique_ptr<Storage> allocate(const StorageSpec&) override;
  void upload(Storage&, DType, std::span<const std::byte> elements) override;
  void prepare(const Dispatch&) override;
  bool prepare_beside(const Dispatch&) override;
  void run(std::span<const Dispatch>, std::optional<std::uint64_t> timed_as) override;
  std::unique_ptr<Download> download(const Storage&, DType, std::int64_t first, std::int64_t count) override;
  std::unique_ptr<Download> download_at_once(const Storage&, DType, std::int64_t first, std::int64_t count) override;
  void wait() override;
  bool can_wait() const override { return webgpu::can_wait(); }
  std::unique_ptr<Mark> mark() override { return std::make_unique<SubmissionMark>(device_); }
  bool can_time() const override { return webgpu::can_time(*device_); }
  std::vector<TimedRun> take_times(bool wait) override { return timed_.take(wait); }
  KernelOrigins kernel_origins() const override {
    return kernels_.origins() + pixel_kernels_.origins() + pipelines_.origins();
  }
  KernelCount kernels() const override { return kernels_.count() + pixel_kernels_.count() + pipelines_.count(); }
  void trim() override;
  const VulkanDriver* shares_images_of() override { return device_->shares_images_of(); }
  std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<SharedImage>&) override;
  std::unique_ptr<ImportedVulkanImage> import_image(const VulkanHostImage&) override;
  std::string why_no_images() override;
  DmaBufs dma_bufs() override;
  bool is_laid_out_as(const Storage&, const ImageSpec&) const override;
  bool is_lost() const override { return device_->is_lost(); }
  void lose() override { device_->lose(); }

  const std::shared_ptr<Device>& own_device() const { return device_; }
  HostObjectChecks& host_object_checks() { return host_object_checks_; }
  std::unique_ptr<Storage> borrow(WGPUBuffer, std::uint64_t offset, std::uint64_t bytes);

  // From now on, run() records into this encoder, whose commands the host submits. Null: run() submits again.
  void record_into(WGPUCommandEncoder encoder) { host_encoder_ = encoder; }
  void submitted() { parameters_.submitted(); }

 private:
  struct Step;
  std::vector<Step> steps_for(std::span<const Dispatch>);
  void add_kernel(Step&, const Dispatch&, const BoundBuffer& words);
  void add_pixels(Step&, const Dispatch&, const BoundBuffer& words);
  [[noreturn]] void throw_refusal_of_hosts_objects(const std::string& error);
  void submit(std::span<const Dispatch>, std::optional<std::uint64_t> timed_as);
  PassTools tools(const BoundBuffer& parameters = {}) { return {*device_, pipelines_, parameters}; }
  void record_all(WGPUCommandEncoder, std::span<const Step>, TimedPasses*);

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_ = std::make_shared<BindGroups>(device_);
  std::shared_ptr<StagingPool> staging_ = std::make_shared<StagingPool>(device_);
  KernelCache kernels_{device_, bind_groups_};
  PixelKernels pixel_kernels_{device_, bind_groups_};
  HostViews host_views_{bind_groups_};
  PassPipelines pipelines_{device_};
  Parameters parameters_{device_, bind_groups_};
  HostObjectChecks host_object_checks_{device_, host_views_};
  TimedRuns<TimedPasses> timed_;
  WGPUCommandEncoder host_encoder_ = nullptr;
};

}  // namespace tessera::webgpu
