// Compiled kernels on disk, where the next start finds them: a file for each, in a folder that processes may share.
//
// A cache never fails its user. A file that is damaged, cut off or someone else's counts as none, and is replaced; a
// folder that cannot be written is told of once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/messages.h"

namespace tessera {

class DiskCache {
 public:
  static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20;

  // `driver` names the driver and its version: files of any other one are not found. Beyond `most_bytes`, files that
  // were not used for longest go.
  DiskCache(std::filesystem::path folder, std::string driver, MessageSink, std::uint64_t most_bytes = usual_bytes);

  // Any thread may call.
  std::vector<std::byte> load(std::span<const std::byte> key);  // empty where there is none
  void store(std::span<const std::byte> key, std::span<const std::byte> value);

 private:
  std::uint64_t largest_value() const { return most_bytes_ / 4; }
  std::vector<std::byte> whole_key(std::span<const std::byte> key) const;
  std::filesystem::path file_of(std::span<const std::byte> whole_key) const;
  void write(std::span<const std::byte> key, std::span<const std::byte> value);
  void make_room(std::uint64_t written);

  const std::filesystem::path folder_;
  const std::string driver_;
  const MessageSink messages_;
  const std::uint64_t most_bytes_;
  std::atomic<bool> has_warned_ = false;
  std::mutex lock_;  // guards what follows
  bool is_counted_ = false;
  std::uint64_t written_ = 0;  // since the folder was counted
};

}  // namespace tessera
