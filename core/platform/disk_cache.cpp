#include "core/platform/disk_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <utility>

#include "core/platform/replacing_file.h"
#include <tessera/error.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ByteView = std::span<const std::byte>;

constexpr std::string_view file_ending = ".kernel";
constexpr std::size_t digits_of_name = 16;

// A file is a header, the whole key and the value.
struct FileHeader {
  static constexpr std::array<char, 8> usual_magic{'t', 'e', 's', 's', 'e', 'r', 'a', '\n'};
  static constexpr std::uint64_t usual_version = 1;

  std::array<char, 8> magic;
  std::uint64_t version;
  std::uint64_t key_bytes, value_bytes;
  std::uint64_t checksum;  // of the key and the value

  bool operator==(const FileHeader&) const = default;
};
using HeaderBytes = std::array<std::byte, sizeof(FileHeader)>;

constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;  // FNV-1a

std::uint64_t hash_of(ByteView bytes, std::uint64_t before = empty_hash) {
  for (const std::byte byte : bytes) before = (before ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return before;
}

FileHeader header_of(ByteView whole_key, ByteView value) {
  return {FileHeader::usual_magic, FileHeader::usual_version, whole_key.size(), value.size(),
          hash_of(value, hash_of(whole_key))};
}

// A folder may be one in which others have files, too.
bool is_file_of_cache(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() == digits_of_name + file_ending.size() && name.ends_with(file_ending) &&
         name.find_first_not_of("0123456789abcdef") == digits_of_name;
}

}  // namespace

DiskCache::DiskCache(fs::path folder, std::string driver, MessageSink messages, std::uint64_t most_bytes)
    : folder_(std::move(folder)), driver_(std::move(driver)), messages_(std::move(messages)), most_bytes_(most_bytes) {}

std::vector<std::byte> DiskCache::whole_key(ByteView key) const {
  const ByteView driver = std::as_bytes(std::span(driver_.c_str(), driver_.size() + 1));
  std::vector<std::byte> whole(driver.begin(), driver.end());
  whole.insert(whole.end(), key.begin(), key.end());
  return whole;
}

fs::path DiskCache::file_of(ByteView whole_key) const {
  std::string name(digits_of_name, '0');
  std::uint64_t hash = hash_of(whole_key);
  for (auto digit = name.rbegin(); digit != name.rend(); ++digit, hash /= 16) *digit = "0123456789abcdef"[hash % 16];
  return folder_ / name.append(file_ending);
}

std::vector<std::byte> DiskCache::load(ByteView key) {
  const std::vector<std::byte> whole = whole_key(key);
  const fs::path path = file_of(whole);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};  // opening a pipe would wait for its other end
  const std::uintmax_t bytes = fs::file_size(path, error);
  const std::size_t before_value = sizeof(FileHeader) + whole.size();
  if (error || bytes <= before_value || bytes - before_value > largest_value()) return {};
  std::vector<std::byte> contents(bytes);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(bytes))) return {};

  const ByteView value = std::span(contents).subspan(before_value);
  HeaderBytes header{};
  std::copy_n(contents.begin(), header.size(), header.begin());
  if (std::bit_cast<FileHeader>(header) != header_of(whole, value) ||
      !std::ranges::equal(whole, std::span(contents).subspan(header.size(), whole.size())))
    return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // for make_room()
  contents.erase(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(before_value));
  return contents;
}

void DiskCache::store(ByteView key, ByteView value) {
  if (value.empty() || value.size() > largest_value()) return;
  try {
    write(key, value);
  } catch (const std::exception& error) {
    if (has_warned_.exchange(true)) return;
    messages_(Message::Level::warning,
              error.what() + std::string(" Compiled kernels are not kept for the next start."));
  }
}

void DiskCache::write(ByteView key, ByteView value) {
  const std::vector<std::byte> whole = whole_key(key);
  refuse_nul("cache_dir", folder_);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw Error(ErrorCode::io,
                "cache_dir: could not create the folder " + folder_.string() + ": " + error.message() + ".");
  ReplacingFile file("cache_dir", file_of(whole));
  file.write(std::bit_cast<HeaderBytes>(header_of(whole, value)));
  file.write(whole);
  file.write(value);
  file.replace();  // a file that a power failure cut off is noticed when it is loaded
  make_room(sizeof(FileHeader) + whole.size() + value.size());
}

// Other processes write, too: the folder is counted anew after each sixteenth of what it may have.
void DiskCache::make_room(std::uint64_t written) {
  const std::scoped_lock hold(lock_);
  written_ += written;
  if (std::exchange(is_counted_, true) && written_ < most_bytes_ / 16) return;
  written_ = 0;

  struct File {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<File> files;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (!is_file_of_cache(entry.path())) continue;
    std::error_code gone;  // with another process, meanwhile
    File file{entry.path(), entry.last_write_time(gone), entry.file_size(gone)};
    if (gone) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  if (bytes <= most_bytes_ / 16 * 15) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (bytes <= most_bytes_ / 4 * 3) return;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    bytes -= file.bytes;
  }
}

}  // namespace tessera
