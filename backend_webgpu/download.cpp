#include "backend_webgpu/download.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace tessera::webgpu {
namespace {

constexpr std::size_t max_free_buffers = 4;
constexpr std::uint64_t max_free_bytes = 16 * 1024 * 1024;  // of one buffer: larger ones are not worth keeping
constexpr std::uint64_t smallest_staging = 4 * 1024;

class BufferDownload final : public Download {
 public:
  BufferDownload(std::shared_ptr<StagingPool> pool, const BoundBuffer& source, std::uint64_t first, std::uint64_t count)
      : pool_(std::move(pool)), device_(*pool_->device()), skip_(first % 4), count_(count) {
    if (count_ == 0) return;  // nothing to copy, ready at once
    // Copies are made of whole 32-bit words.
    mapped_ = round_up(skip_ + count_, 4);
    staging_ = pool_->take(mapped_);
    submit_copy(source, source.offset + first - skip_);
    mapping_.emplace(device_, staging_.handle.get(), mapped_);
  }

  ~BufferDownload() override { give_back(); }

  bool ready() override { return !mapping_ || mapping_->ready(0); }
  void wait() override {
    if (mapping_) mapping_->ready(forever);
  }

  void take(std::span<std::byte> elements) override {
    if (count_ == 0) return;
    std::memcpy(elements.data(), mapped().data(), std::min<std::size_t>(count_, elements.size()));
    give_back();
  }

  std::span<const std::byte> next_part() override {
    return std::exchange(is_given_, true) ? std::span<const std::byte>() : mapped();
  }

 private:
  std::span<const std::byte> mapped() {
    if (count_ == 0) return {};
    wait();
    device_.throw_faults();  // after a loss, a map may still report success
    const void* mapped = mapping_ ? mapping_->data() : nullptr;
    if (!mapped)
      throw Error(ErrorCode::device_lost, "WebGPU: " + std::to_string(count_) + " bytes could not be read from " +
                                              device_.info().name + ": " + (mapping_ ? mapping_->failure() : ""));
    return {static_cast<const std::byte*>(mapped) + skip_, static_cast<std::size_t>(count_)};
  }
  void submit_copy(const BoundBuffer& source, std::uint64_t first) {
    ErrorScope refused(device_, WGPUErrorFilter_Validation);  // a borrowed buffer may be destroyed by now
    submit(device_, "tessera download", [&](WGPUCommandEncoder encoder) {
      wgpuCommandEncoderCopyBufferToBuffer(encoder, source.handle, first, staging_.handle.get(), 0, mapped_);
    });
    if (const std::string error = refused.close(); !error.empty())
      throw Error(ErrorCode::invalid_argument, "read: Dawn refuses to copy the tensor's buffer: " + error);
  }
  void give_back() {
    mapping_.reset();
    if (staging_.handle) pool_->give_back(std::move(staging_));
  }

  std::shared_ptr<StagingPool> pool_;
  Device& device_;
  std::uint64_t skip_, count_, mapped_ = 0;
  StagingPool::Staging staging_;
  std::optional<Mapping> mapping_;
  bool is_given_ = false;
};

// A download in parts, of which the host copies one while the device copies the next. The staging buffers of two parts
// serve all of them, and stay in the caches.
class DownloadInParts final : public Download {
 public:
  static constexpr std::uint64_t part_bytes = std::uint64_t{2} << 20;

  DownloadInParts(std::shared_ptr<StagingPool> pool, const BoundBuffer& source, std::uint64_t first,
                  std::uint64_t count)
      : pool_(std::move(pool)), source_(source), next_(first), end_(first + count) {
    for (int i = 0; i < 2; ++i) start_next();
  }

  bool ready() override { return parts_.front()->ready(); }
  void wait() override { parts_.front()->wait(); }
  void take(std::span<std::byte> elements) override {
    for (auto part = next_part(); !part.empty(); part = next_part()) {
      std::ranges::copy(part, elements.begin());
      elements = elements.subspan(part.size());
    }
  }
  std::span<const std::byte> next_part() override {
    if (std::exchange(is_begun_, true)) {
      parts_.pop_front();
      start_next();
    }
    return parts_.empty() ? std::span<const std::byte>() : parts_.front()->next_part();
  }

 private:
  void start_next() {
    const std::uint64_t bytes = std::min(part_bytes, end_ - next_);
    if (bytes == 0) return;
    parts_.push_back(std::make_unique<BufferDownload>(pool_, source_, next_, bytes));
    next_ += bytes;
  }

  std::shared_ptr<StagingPool> pool_;
  BoundBuffer source_;
  std::uint64_t next_, end_;
  std::deque<std::unique_ptr<BufferDownload>> parts_;  // that the device copies, and the one that was given last
  bool is_begun_ = false;
};

}  // namespace

Mapping::Mapping(const Device& device, WGPUBuffer buffer, std::uint64_t bytes)
    : device_(device), buffer_(buffer), bytes_(bytes) {
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = this;
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* to, void*) {
    auto& mapping = *static_cast<Mapping*>(to);
    mapping.is_mapped_ = status == WGPUMapAsyncStatus_Success;
    if (!mapping.is_mapped_) mapping.failure_ = string_of(message);
  };
  future_ = wgpuBufferMapAsync(buffer_, WGPUMapMode_Read, 0, bytes_, callback);
}

Mapping::~Mapping() {
  wgpuBufferUnmap(buffer_);  // also cancels a map that is under way,
  ready(forever);            // whose callback runs here and never later
}

bool Mapping::ready(std::uint64_t nanoseconds) {
  if (is_pending_) is_pending_ = !device_.wait_for(future_, nanoseconds);
  return !is_pending_;
}

const void* Mapping::data() const {
  if (is_mapped_ && !data_) data_ = wgpuBufferGetConstMappedRange(buffer_, 0, bytes_);
  return data_;
}

StagingPool::Staging StagingPool::take(std::uint64_t bytes) {
  {
    const std::lock_guard lock(lock_);
    const auto smaller = [](const Staging& a, const Staging& b) { return a.bytes < b.bytes; };
    std::sort(free_.begin(), free_.end(), smaller);
    const auto fits = std::find_if(free_.begin(), free_.end(), [&](const Staging& s) { return s.bytes >= bytes; });
    if (fits != free_.end()) {
      Staging staging = std::move(*fits);
      free_.erase(fits);
      return staging;
    }
  }
  const std::uint64_t size = std::max(bytes, smallest_staging);
  return {device_->make_buffer(size, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "tessera download"), size};
}

void StagingPool::give_back(Staging staging) {
  if (staging.bytes > max_free_bytes) return;
  const std::lock_guard lock(lock_);
  if (free_.size() >= max_free_buffers) free_.erase(free_.begin());
  free_.push_back(std::move(staging));
}

void StagingPool::trim() {
  const std::lock_guard lock(lock_);
  free_.clear();
}

std::unique_ptr<Download> start_download(std::shared_ptr<StagingPool> pool, const BoundBuffer& source,
                                         std::uint64_t first, std::uint64_t count) {
  return std::make_unique<BufferDownload>(std::move(pool), source, first, count);
}

std::unique_ptr<Download> start_download_in_parts(std::shared_ptr<StagingPool> pool, const BoundBuffer& source,
                                                  std::uint64_t first, std::uint64_t count) {
  if (count < 2 * DownloadInParts::part_bytes) return start_download(std::move(pool), source, first, count);
  return std::make_unique<DownloadInParts>(std::move(pool), source, first, count);
}

}  // namespace tessera::webgpu
