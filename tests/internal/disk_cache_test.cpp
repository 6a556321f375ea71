// The folder of compiled kernels, without a driver.
#include "core/platform/disk_cache.h"

#include <gmock/gmock.h>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include <thread>

#include "support/temporary_folder.h"

namespace tessera::test::disk_cache_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

class DiskCaches : public ::testing::Test {
 protected:
  DiskCache open(const std::string& driver = "driver 1", std::uint64_t most_bytes = DiskCache::usual_bytes) {
    return DiskCache(folder_.path(), driver, messages_->sink(), most_bytes);
  }
  static std::string load(DiskCache& cache, const std::string& key) {
    const std::vector<std::byte> value = cache.load(bytes(key));
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }
  static void store(DiskCache& cache, const std::string& key, const std::string& value) {
    cache.store(bytes(key), bytes(value));
  }
  fs::path only_file() const {
    EXPECT_EQ(folder_.files(), 1);
    return fs::directory_iterator(folder_.path())->path();
  }
  std::uintmax_t bytes_in_folder() const {
    std::uintmax_t sum = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) sum += entry.file_size();
    return sum;
  }

  TemporaryFolder folder_;
  std::vector<std::string> told_;
  std::shared_ptr<Messages> messages_ = std::make_shared<Messages>(
      ContextOptions{.on_message = [this](const Message& message) { told_.push_back(message.text); }});
};

TEST_F(DiskCaches, GiveBackWhatWasStored) {
  DiskCache cache = open();
  EXPECT_EQ(load(cache, "key"), "");
  store(cache, "key", "value");
  store(cache, "other", std::string("zeros\0in it", 11));
  EXPECT_EQ(load(cache, "key"), "value");
  DiskCache next = open();
  EXPECT_EQ(load(next, "key"), "value");
  EXPECT_EQ(load(next, "other"), std::string("zeros\0in it", 11));
  store(next, "key", "another value");
  EXPECT_EQ(load(cache, "key"), "another value");
  EXPECT_EQ(folder_.files(), 2);
}

TEST_F(DiskCaches, KeepDriversApart) {
  DiskCache cache = open("driver 1"), other = open("driver 2");
  store(cache, "key", "value");
  EXPECT_EQ(load(other, "key"), "");
  store(other, "key", "its own");
  EXPECT_EQ(load(cache, "key"), "value");
  // Under the name of the other's file, as if their hashes were equal.
  std::vector<fs::path> files{fs::directory_iterator(folder_.path()), fs::directory_iterator()};
  const std::string contents = bytes_of(files[0]);
  write_bytes(files[0], bytes_of(files[1]));
  write_bytes(files[1], contents);
  EXPECT_EQ(load(cache, "key"), "");
  EXPECT_EQ(load(other, "key"), "");
}

TEST_F(DiskCaches, IgnoreAndReplaceDamagedFiles) {
  DiskCache cache = open();
  const std::string value = "the value of a kernel";
  store(cache, "key", value);
  const std::string whole = bytes_of(only_file());
  std::vector<std::string> damaged{"", "t", whole + "more", "foreign", std::string(whole.size(), 'x')};
  for (std::size_t size = 1; size < whole.size(); ++size) damaged.push_back(whole.substr(0, size));
  for (std::size_t i = 0; i < whole.size(); ++i) {  // the version, the lengths and the checksum among them
    damaged.push_back(whole);
    damaged.back()[i] = static_cast<char>(damaged.back()[i] ^ 0x10);
  }
  for (const std::string& contents : damaged) {
    write_bytes(only_file(), contents);
    ASSERT_EQ(load(cache, "key"), "") << contents;
  }
  store(cache, "key", value);
  EXPECT_EQ(load(cache, "key"), value);
}

#ifndef _WIN32  // its pipes are no files of a folder
TEST_F(DiskCaches, DoNotWaitForAPipe) {
  DiskCache cache = open();
  store(cache, "key", "value");
  const fs::path path = only_file();
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(load(cache, "key"), "");
  store(cache, "key", "value");
  messages_->deliver();
  EXPECT_THAT(told_, ::testing::ElementsAre(::testing::HasSubstr("not a regular file")));
}
#endif

TEST_F(DiskCaches, LetGoOfWhatWasNotUsedForLongest) {
  constexpr std::uint64_t most = 64 * 1024;
  write_bytes(folder_ / "of someone else", std::string(most, 'x'));
  write_bytes(folder_ / "notes.kernel", std::string(most, 'x'));
  const std::string value(1000, 'v');
  DiskCache cache = open("driver", most);
  store(cache, "used", value);
  const auto long_ago = fs::file_time_type::clock::now() - 24h;
  for (int i = 0; i < 200; ++i) {
    store(cache, "key " + std::to_string(i), value);
    // As if a day had passed since these: only what is loaded from now on is newer.
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
      if (fs::last_write_time(entry.path()) > long_ago + 1h) fs::last_write_time(entry.path(), long_ago + i * 1s);
    ASSERT_EQ(load(cache, "used"), value) << i;
    ASSERT_LE(bytes_in_folder(), 3 * most) << i;
  }
  EXPECT_EQ(load(cache, "key 0"), "");
  EXPECT_EQ(load(cache, "key 199"), value);
  EXPECT_GT(bytes_in_folder(), 2 * most + most / 2);
  EXPECT_TRUE(fs::exists(folder_ / "notes.kernel"));
  EXPECT_TRUE(fs::exists(folder_ / "of someone else"));
}

TEST_F(DiskCaches, AreBoundedFromTheFirstStoreOn) {
  constexpr std::uint64_t most = 64 * 1024;
  {
    DiskCache large = open();
    for (int i = 0; i < 100; ++i) store(large, std::to_string(i), std::string(4000, 'v'));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))  // some systems count in seconds
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - 1h);
  DiskCache cache = open("driver 1", most);
  store(cache, "key", "value");
  EXPECT_LE(bytes_in_folder(), most);
  EXPECT_EQ(load(cache, "key"), "value");
}

// Windows refuses to open a file while it is replaced: whoever looks for it then compiles anew.
#ifdef _WIN32
constexpr bool may_be_missed = true;
#else
constexpr bool may_be_missed = false;
#endif

TEST_F(DiskCaches, MayBeSharedByThreads) {
  DiskCache shared = open(), other = open();
  const auto work = [&](DiskCache& cache) {
    for (int i = 0; i < 60; ++i) {
      const std::string key = std::to_string(i % 10), value(static_cast<std::size_t>(100 + i % 10), 'v');
      store(cache, key, value);
      const std::string loaded = load(cache, key);
      if (loaded != value && !(may_be_missed && loaded.empty()))
        ADD_FAILURE() << key << ": " << loaded.size() << " bytes";
    }
  };
  std::thread first([&] { work(shared); }), second([&] { work(shared); });
  work(other);
  first.join();
  second.join();
  messages_->deliver();
  EXPECT_THAT(told_, ::testing::IsEmpty());
  EXPECT_EQ(folder_.files(), 10);
}

}  // namespace
}  // namespace tessera::test::disk_cache_test
