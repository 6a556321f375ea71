// samples/video_filter in a real window on an X server, with its keys: the picture follows, on both backends. And its
// command line. Screenshots are compared with what the cpu renders, within the tolerance of support/pictures.h.
#include <gtest/gtest.h>
#ifdef TESSERA_VIDEO_FILTER

#include <chrono>
#include <functional>
#include <thread>

#include "support/running.h"
#include "support/screen.h"
#include "support/virtual_display.h"

#include <X11/keysym.h>

namespace tessera::test::video_filter_window_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// Dawn and GLFW unload their drivers at the end, whose leaks then have no name to be suppressed by.
const std::vector<std::string> environment{"ASAN_OPTIONS=intercept_tls_get_addr=0:detect_leaks=0"};
using Arguments = std::vector<std::string>;
const Arguments without_cache{"--cache", ""};  // nor files of the user's; a later --cache counts

Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Picture headless(const Arguments& arguments) {
  const TemporaryFolder folder;
  const std::string file = (folder / "picture.png").string();
  Running program("video_filter", without_cache + Arguments{"--headless", "--out", file} + arguments, environment);
  EXPECT_EQ(program.wait(), 0) << program.errors();
  return load(file);
}

// What a filter makes of a frame of the scene, by the cpu.
Picture wanted(const std::string& filter, int frame, const std::string& size) {
  return headless(
      {"--backend", "cpu", "--filter", filter, "--first", std::to_string(frame), "--frames", "1", "--size", size});
}

class FilterWindow : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!display_.is_there()) GTEST_SKIP() << "there is no X server, and Xvfb does not start";
    screen_.emplace();
    ASSERT_TRUE(screen_->is_open());
  }
  std::string other() const { return backend() == "webgpu" ? "gles" : "webgpu"; }
  std::string backend() const { return GetParam(); }

  void start(const Arguments& arguments) {
    program_.emplace("video_filter", without_cache + Arguments{"--backend", backend()} + arguments, environment);
  }
  template <class Condition>
  bool eventually(const Condition& condition) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(120);
    while (program_->is_running() && steady_clock::now() < deadline) {
      window_ = screen_->find("video_filter");
      if (window_ && condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
    return false;
  }
  ::testing::AssertionResult comes_to_show(const Picture& picture) {
    ::testing::AssertionResult last = ::testing::AssertionFailure();
    eventually([&] { return static_cast<bool>(last = is_like(screen_->of(window_), picture)); });
    return last << " " << screen_->title_of(window_) << " " << program_->errors();
  }
  bool comes_to_say(const std::string& part) {
    return eventually([&] { return screen_->title_of(window_).find(part) != std::string::npos; });
  }
  void press(KeySym key) { screen_->press(window_, key); }
  void expect_end() { EXPECT_EQ(program_->wait(), 0) << program_->errors(); }

  const VirtualDisplay display_;
  std::optional<Screen> screen_;
  std::optional<Running> program_;
  ::Window window_ = 0;
};

TEST_P(FilterWindow, FollowsKeysAndSizes) {
  const Picture plain = wanted("none", 30, "256x144"), edges = wanted("sobel", 30, "256x144");
  EXPECT_TRUE(is_like(plain, load(fs::path(TESSERA_SAMPLES_SOURCES) / "video_filter/reference.png")));
  EXPECT_FALSE(is_like(plain, edges));
  start({"--size", "256x144", "--still", "30"});
  ASSERT_TRUE(comes_to_show(plain));
  press(XK_5);
  ASSERT_TRUE(comes_to_show(edges));
  EXPECT_TRUE(comes_to_say("sobel (paused) on " + backend()));
  press(XK_Tab);
  ASSERT_TRUE(comes_to_say("sobel (paused) on " + other()));
  ASSERT_TRUE(comes_to_show(edges));
  press(XK_Tab);
  ASSERT_TRUE(comes_to_say("sobel (paused) on " + backend()));
  press(XK_Left);
  EXPECT_TRUE(comes_to_show(wanted("sharpen", 30, "256x144")));
  screen_->resize(window_, 301, 187);
  EXPECT_TRUE(comes_to_show(wanted("sharpen", 30, "301x187")));
  press(XK_0);
  EXPECT_TRUE(comes_to_show(wanted("none", 30, "301x187")));
  press(XK_Escape);
  expect_end();
}

TEST_P(FilterWindow, SurvivesMinimisingAndALostDevice) {
  const Picture picture = wanted("blur", 30, "160x90"), plain = wanted("none", 30, "160x90");
  start({"--size", "160x90", "--still", "30", "--filter", "blur"});
  ASSERT_TRUE(comes_to_show(picture));
  screen_->set_minimised(window_, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(program_->is_running());
  screen_->set_minimised(window_, false);
  ASSERT_TRUE(comes_to_show(picture));
  for (const KeySym filter : {XK_0, XK_3}) {
    press(XK_F12);
    press(filter);
    ASSERT_TRUE(comes_to_show(filter == XK_0 ? plain : picture));
  }
  press(XK_Tab);
  ASSERT_TRUE(comes_to_say(other()));
  press(XK_0);
  EXPECT_TRUE(comes_to_show(plain));
  screen_->close(window_);
  expect_end();
}

// Whole ones.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
    lines.push_back(text.substr(from, to - from));
  return lines;
}

TEST_P(FilterWindow, KeepsItsHistoryWhenTheBackendChanges) {
  start({"--size", "160x90", "--filter", "grain,denoise"});
  ASSERT_TRUE(comes_to_say(backend()));
  // On a busy machine it takes a while until there is a history.
  std::string file;
  int frame = 0;
  for (std::size_t saves = 1; frame < 4; ++saves) {
    ASSERT_LE(saves, 30u);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    press(XK_space);
    ASSERT_TRUE(comes_to_say("(paused) on " + backend()));
    press(XK_s);
    std::vector<std::string> files;
    ASSERT_TRUE(eventually([&] { return (files = lines_of(program_->printed())).size() == saves; }));
    if (!file.empty()) fs::remove(file);
    file = files.back();
    frame = std::stoi(file.substr(std::string("video_filter_").size()));
    if (frame < 4) press(XK_space);
  }
  const Picture saved = load(file);
  fs::remove(file);
  EXPECT_TRUE(comes_to_show(saved));
  EXPECT_TRUE(is_like(saved, headless({"--backend", "cpu", "--filter", "grain,denoise", "--first",
                                       std::to_string(frame - 4), "--frames", "5", "--size", "160x90"})));
  EXPECT_FALSE(is_like(saved, wanted("grain,denoise", frame, "160x90")));  // without history
  press(XK_Tab);
  ASSERT_TRUE(comes_to_say("(paused) on " + other()));
  EXPECT_TRUE(comes_to_show(saved));
  press(XK_Escape);
  expect_end();
}

// A video of the scene, from which the end may be missing; empty where this build has no FFmpeg.
fs::path make_video(const TemporaryFolder& folder, double share) {
  const fs::path path = folder / "scene.mkv";
  Running program("video_filter",
                  without_cache + Arguments{"--headless", "--backend", "cpu", "--size", "96x54", "--frames", "12",
                                            "--out", path.string()},
                  environment);
  if (program.wait() != 0 && program.errors().find("needs FFmpeg") != std::string::npos) return {};
  fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(path)) * share));
  return path;
}

TEST_P(FilterWindow, GoesOnWhenAVideoEndsOrBreaks) {
  for (const double share : {1.0, 0.6}) {
    const TemporaryFolder folder;
    const fs::path video = make_video(folder, share);
    if (video.empty()) GTEST_SKIP() << "this build found no FFmpeg";
    start({video.string(), "--filter", "sobel"});
    ASSERT_TRUE(comes_to_say("sobel on " + backend())) << program_->errors();
    std::this_thread::sleep_for(std::chrono::seconds(1));  // at 30 frames a second it has ended by then
    EXPECT_TRUE(program_->is_running()) << program_->errors();
    press(XK_0);
    EXPECT_TRUE(comes_to_say("none on " + backend())) << program_->errors();
    press(XK_Escape);
    expect_end();
  }
}

TEST_P(FilterWindow, CompilesNothingWhenItIsStartedAgain) {
  const TemporaryFolder cache;
  for (const bool is_second : {false, true}) {
    start({"--size", "160x90", "--filter", "sobel", "--cache", cache.path().string()});
    ASSERT_TRUE(comes_to_say("sobel on " + backend())) << program_->errors();
    if (!is_second) std::this_thread::sleep_for(std::chrono::seconds(1));  // later frames may need more kernels
    press(XK_Escape);
    expect_end();
    const std::string printed = program_->printed();
    EXPECT_EQ(printed.find(backend() + ": 0 kernels compiled") != std::string::npos, is_second) << printed;
    EXPECT_EQ(printed.find(", 0 from the cache") != std::string::npos, !is_second) << printed;
  }
}

const auto name_of = [](const ::testing::TestParamInfo<const char*>& its) { return std::string(its.param); };
INSTANTIATE_TEST_SUITE_P(On, FilterWindow, ::testing::Values("webgpu", "gles"), name_of);

TEST(FilterVideos, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const fs::path video = make_video(folder, 1);
  if (video.empty()) GTEST_SKIP() << "this build found no FFmpeg";
  const Picture drawn = wanted("none", 11, "96x54");
  for (const char* device : {"webgpu", "gles"}) {
    const Picture read = headless({video.string(), "--backend", device});
    ASSERT_EQ(read.rgb.size(), drawn.rgb.size());
    double sum = 0;
    for (std::size_t i = 0; i < read.rgb.size(); ++i) sum += std::abs(read.rgb[i] - drawn.rgb[i]);
    EXPECT_LT(sum / static_cast<double>(read.rgb.size()), 6) << device;  // of 255: it was compressed
  }
}

TEST(FilterVideos, OfWhichTheEndIsMissingGiveWhatThereIs) {
  const TemporaryFolder folder;
  const fs::path video = make_video(folder, 0.6);
  if (video.empty()) GTEST_SKIP() << "this build found no FFmpeg";
  EXPECT_EQ(headless({video.string(), "--backend", "cpu"}).width, 96);
}

TEST(FilterCommandLine, ComparesBothBackends) {
  const Picture compared = headless({"--compare", "--size", "64x36", "--frames", "2", "--filter", "blur,sobel"});
  ASSERT_EQ(compared.width, 3 * 64);
  ASSERT_EQ(compared.height, 36);
  int largest = 0;
  for (std::size_t y = 0; y < 36; ++y)
    for (std::size_t x = 128 * 3; x < 192 * 3; ++x) largest = std::max<int>(largest, compared.rgb[y * 192 * 3 + x]);
  EXPECT_LE(largest, 2 * 8);  // eight times what they differ by
}

TEST(FilterCommandLine, KeepsKernelsInTheCacheOfTheUser) {
  const TemporaryFolder folder;
  const Arguments arguments{"--headless",
                            "--backend",
                            "gles",
                            "--size",
                            "64x36",
                            "--frames",
                            "1",
                            "--filter",
                            "blur",
                            "--out",
                            (folder / "picture.png").string()};
  const std::vector<std::string> in_folder{environment[0], "XDG_CACHE_HOME=" + folder.path().string()};
  for (const bool is_second : {false, true}) {
    Running program("video_filter", arguments, in_folder);
    EXPECT_EQ(program.wait(), 0) << program.errors();
    EXPECT_EQ(program.printed().find("gles: 0 kernels compiled") != std::string::npos, is_second) << program.printed();
  }
  EXPECT_TRUE(fs::exists(folder / "tessera"));
}

TEST(FilterCommandLine, TellsWhatIsWrongInOneLine) {
  const TemporaryFolder folder;
  for (const char* broken : {"broken.png", "broken.mp4"}) std::ofstream(folder / broken) << "nothing of the kind";
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"--headless", "--filter", "blurr"}, "there is no filter 'blurr'"},
      {{"--headless", "--backend", "metal"}, "there is no backend 'metal'"},
      {{"--headless", "--out", "a.gif"}, "a.gif"},
      {{"--headless", "--out", "/nowhere/a.png", "--size", "8x8", "--frames", "1"}, "cannot write /nowhere/a.png"},
      {{"--headless", "nothing.mp4"}, "there is no file nothing.mp4"},
      {{"--headless", (folder / "broken.png").string()}, "cannot be read"},
      {{"--headless", (folder / "broken.mp4").string()}, "broken.mp4"},
      {{"--headless", "camera:/dev/video99"}, "/dev/video99"},
      {{"--headless", "--size", "8"}, "'8' is not a size"},
      {{"--compare"}, "go with --headless"},
      {{"--nonsense"}, "unknown option '--nonsense'"},
  };
  for (const auto& [arguments, part] : cases) {
    Running program("video_filter", without_cache + arguments, environment);
    EXPECT_EQ(program.wait(), 1) << part;
    const std::string errors = program.errors();
    EXPECT_NE(errors.find(part), std::string::npos) << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  }
}

}  // namespace
}  // namespace tessera::test::video_filter_window_test
#else
TEST(FilterWindow, WasBuilt) { GTEST_SKIP() << "the sample video_filter is not part of this build"; }
#endif
