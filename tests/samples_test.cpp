// The engines among the samples, off screen on each driver and in a window on an X server: their pictures, and what
// they print about tessera in them.
#include <gtest/gtest.h>
#ifdef TESSERA_SAMPLES

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"
#include "support/virtual_display.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#ifdef TESSERA_HAS_X11
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#undef None
#undef Success
#endif

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// ---- pictures ---------------------------------------------------------------------------------------------
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

Picture load(const fs::path& path) {
  Picture picture;
  int channels = 0;
  std::uint8_t* pixels = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 3);
  if (!pixels) return picture;
  picture.rgb.assign(pixels, pixels + picture.width * picture.height * 3);
  stbi_image_free(pixels);
  return picture;
}

double brightness(const Picture& picture) {
  double sum = 0;
  for (const std::uint8_t value : picture.rgb) sum += value;
  return sum / static_cast<double>(picture.rgb.size());
}

// Drivers differ in which pixels the edges of a triangle cover and in how they round; nothing else may.
constexpr int pixel_tolerance = 4;      // of 255
constexpr double share_beyond = 0.01;   // of the pixels: those at edges
constexpr double mean_tolerance = 0.5;  // of 255

::testing::AssertionResult is_like(const Picture& picture, const Picture& reference) {
  if (picture.width != reference.width || picture.height != reference.height || picture.rgb.empty())
    return ::testing::AssertionFailure() << picture.width << "x" << picture.height << " pixels instead of "
                                         << reference.width << "x" << reference.height;
  double sum = 0;
  int beyond = 0, largest = 0;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    int worst = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const int difference = std::abs(picture.rgb[i + c] - reference.rgb[i + c]);
      worst = std::max(worst, difference);
      sum += difference;
    }
    beyond += worst > pixel_tolerance;
    largest = std::max(largest, worst);
  }
  const double mean = sum / static_cast<double>(picture.rgb.size());
  const double share = beyond / (static_cast<double>(picture.rgb.size()) / 3);
  const bool good = mean <= mean_tolerance && share <= share_beyond;
  return (good ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "differs by " << mean << " on average, by " << largest << " at most, and by more than " << pixel_tolerance
         << " in " << beyond << " pixels";
}

// ---- programs ---------------------------------------------------------------------------------------------
// A sample that runs, with what it prints in files.
class Running {
 public:
  Running(const std::string& sample, std::vector<std::string> arguments, const std::vector<std::string>& environment) {
    const std::string program = (fs::path(TESSERA_SAMPLES) / sample).string();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = (folder_.path() / "out").string(), err = (folder_.path() / "err").string();
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  ~Running() {
    if (is_running()) {
      kill(pid_, SIGKILL);
      wait();
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool is_running() {
    if (!status_)
      if (int status = 0; waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return !status_;
  }
  int wait() {  // its exit code, or -1 where a signal ended it
    if (int status = 0; !status_ && waitpid(pid_, &status, 0) == pid_) status_ = status;
    return status_ && WIFEXITED(*status_) ? WEXITSTATUS(*status_) : -1;
  }
  std::string printed() const { return text_of("out"); }
  std::string errors() const { return text_of("err"); }

 private:
  std::string text_of(const char* name) const {
    std::ifstream file(folder_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  pid_t pid_ = 0;
  std::optional<int> status_;
};

const std::vector<std::string> same_picture{"--still", "30"};
constexpr const char* reference_size = "256x192";

struct Engine {
  std::string sample, title, own_submissions;
  std::string driver;                    // part of what tessera calls it; empty: the machine's own
  std::vector<std::string> environment;  // that chooses it
};
std::string name_of(const Engine& engine) {
  return engine.sample + "_on_" + (engine.driver.empty() ? "the_machines_driver" : engine.driver);
}
void PrintTo(const Engine& engine, std::ostream* out) { *out << name_of(engine); }

const fs::path sources = TESSERA_SAMPLES_SOURCES;
Picture reference() { return load(sources / "support/engine_frame.png"); }

// "5 kernels compiled, 0 bytes downloaded"
std::string costs_of(const std::string& printed) {
  const std::string before = "of its own, ";
  const std::size_t at = printed.find(before);
  return at == std::string::npos ? printed : printed.substr(at + before.size());
}

// What the engine draws off screen; an empty picture where it failed, with the reason as a failure of the test.
struct Drawn {
  Picture picture;
  std::string costs;
};
Drawn off_screen(const Engine& engine, const std::string& size, bool with_tessera = true) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "picture.png";
  std::vector<std::string> arguments{"--size", size, "--headless", "3", file.string()};
  arguments.insert(arguments.end(), same_picture.begin(), same_picture.end());
  if (!with_tessera) arguments.push_back("--without-tessera");
  std::vector<std::string> environment = engine.environment;
  environment.push_back("TESSERA_CHECK_GL_STATE=1");  // complains in errors()
  Running program(engine.sample, arguments, environment);
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(program.errors(), "");
  if (with_tessera) {
    EXPECT_NE(program.printed().find(" 0 bytes downloaded"), std::string::npos) << program.printed();
    EXPECT_NE(program.printed().find(": " + engine.own_submissions), std::string::npos) << program.printed();
    EXPECT_NE(program.printed().find(engine.driver), std::string::npos) << program.printed();
  } else {
    EXPECT_EQ(program.printed(), "");
  }
  return {load(file), costs_of(program.printed())};
}

class Engines : public ::testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TESSERA_SAMPLES) / GetParam().sample))
      GTEST_SKIP() << GetParam().sample << " was not built: GLFW, stb or its backend is missing";
    // Without a driver for Vulkan on the machine, only the one that comes with ANGLE is there.
    if (GetParam().driver.empty()) {
      Running program(GetParam().sample, {"--headless", "1", "/dev/null", "--size", "8x8", "--without-tessera"}, {});
      if (program.wait() != 0 && program.errors().find("finds no Vulkan driver") != std::string::npos)
        GTEST_SKIP() << program.errors();
    }
  }
};

TEST_P(Engines, DrawOffScreen) {
  const ::testing::AssertionResult result = is_like(off_screen(GetParam(), reference_size).picture, reference());
  EXPECT_TRUE(result);
  std::printf("%s\n", result.message());
}

TEST_P(Engines, WithoutTesseraThereIsNoBloom) {
  const Picture alone = off_screen(GetParam(), reference_size, false).picture, with_bloom = reference();
  ASSERT_EQ(alone.rgb.size(), with_bloom.rgb.size());
  EXPECT_FALSE(is_like(alone, with_bloom));
  EXPECT_LT(brightness(alone) + 5, brightness(with_bloom));
}

const std::string swiftshader = "VK_DRIVER_FILES=" TESSERA_SAMPLES_ANGLE "/vk_swiftshader_icd.json";
const std::string angle = "ENGINE_EGL=" TESSERA_SAMPLES_ANGLE "/libEGL.so";
// Dawn, and GLFW with its windows, unload their drivers at the end, whose leaks then have no name to be suppressed by.
const std::string no_leak_check = "ASAN_OPTIONS=intercept_tls_get_addr=0:detect_leaks=0";
const Engine webgpu{"in_webgpu_engine", "tessera in a WebGPU engine", "0 submissions", "", {no_leak_check}};
const Engine webgpu_swiftshader{
    "in_webgpu_engine", "tessera in a WebGPU engine", "0 submissions", "SwiftShader", {no_leak_check, swiftshader}};
const Engine gles{"in_gles_engine", "tessera in an OpenGL ES engine", "3 submissions", "", {}};
const Engine gles_angle{
    "in_gles_engine", "tessera in an OpenGL ES engine", "3 submissions", "ANGLE", {swiftshader, angle}};
const auto name_of_case = [](const ::testing::TestParamInfo<Engine>& info) { return name_of(info.param); };

INSTANTIATE_TEST_SUITE_P(On, Engines, ::testing::Values(webgpu, webgpu_swiftshader, gles, gles_angle), name_of_case);

// ---- windows ----------------------------------------------------------------------------------------------
class EnginesInAWindow : public Engines {};

#ifdef TESSERA_HAS_X11
class Screen {
 public:
  Screen() : display_(XOpenDisplay(nullptr)) {
    XSetErrorHandler([](Display*, XErrorEvent*) { return 0; });  // windows come and go while they are looked at
  }
  ~Screen() {
    if (display_) XCloseDisplay(display_);
  }
  bool is_open() const { return display_ != nullptr; }

  ::Window find(const std::string& title, ::Window under = 0) {
    ::Window root = 0, parent = 0, *children = nullptr;
    unsigned count = 0;
    ::Window found = 0;
    if (!XQueryTree(display_, under ? under : DefaultRootWindow(display_), &root, &parent, &children, &count)) return 0;
    for (unsigned i = 0; i < count && !found; ++i) {
      char* name = nullptr;
      if (XFetchName(display_, children[i], &name) && name && name == title) found = children[i];
      XFree(name);
      if (!found) found = find(title, children[i]);
    }
    XFree(children);
    return found;
  }

  Picture of(::Window window) {
    XWindowAttributes attributes{};
    if (!window || !XGetWindowAttributes(display_, window, &attributes) || attributes.map_state != IsViewable)
      return {};
    XImage* image = XGetImage(display_, window, 0, 0, static_cast<unsigned>(attributes.width),
                              static_cast<unsigned>(attributes.height), AllPlanes, ZPixmap);
    if (!image) return {};
    Picture picture{attributes.width, attributes.height, {}};
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        const unsigned long pixel = XGetPixel(image, x, y);
        for (const int shift : {16, 8, 0}) picture.rgb.push_back(static_cast<std::uint8_t>(pixel >> shift));
      }
    XDestroyImage(image);
    return picture;
  }

  void resize(::Window window, int width, int height) {
    XResizeWindow(display_, window, static_cast<unsigned>(width), static_cast<unsigned>(height));
    XFlush(display_);
  }
  void close(::Window window) {  // as a window manager does it
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = window;
    event.xclient.message_type = XInternAtom(display_, "WM_PROTOCOLS", False);
    event.xclient.format = 32;
    event.xclient.data.l[0] = static_cast<long>(XInternAtom(display_, "WM_DELETE_WINDOW", False));
    XSendEvent(display_, window, False, NoEventMask, &event);
    XFlush(display_);
  }

 private:
  Display* display_;
};

TEST_P(EnginesInAWindow, DrawResizeAndClose) {
  const VirtualDisplay display;
  if (!display.is_there()) GTEST_SKIP() << "there is no X server, and Xvfb does not start";
  Screen screen;
  ASSERT_TRUE(screen.is_open());
  const Engine& engine = GetParam();
  std::vector<std::string> arguments{"--size", reference_size};
  arguments.insert(arguments.end(), same_picture.begin(), same_picture.end());
  std::vector<std::string> environment = engine.environment;
  environment.push_back(no_leak_check);
  Running program(engine.sample, arguments, environment);

  ::Window window = 0;
  const auto comes_to_show = [&](const Picture& wanted) {
    ::testing::AssertionResult result = ::testing::AssertionFailure();
    const auto deadline = steady_clock::now() + std::chrono::seconds(150);
    while (!result && program.is_running() && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      window = screen.find(engine.title);
      result = is_like(screen.of(window), wanted);
    }
    return result;
  };
  ASSERT_TRUE(comes_to_show(reference())) << program.errors();
  constexpr int odd_width = 301, odd_height = 187;
  screen.resize(window, odd_width, odd_height);
  const Drawn resized = off_screen(engine, "301x187");
  EXPECT_TRUE(comes_to_show(resized.picture));
  screen.close(window);
  EXPECT_EQ(program.wait(), 0) << program.errors();
  EXPECT_EQ(costs_of(program.printed()), resized.costs);  // another size compiles nothing
}
#else
TEST_P(EnginesInAWindow, DrawResizeAndClose) { GTEST_SKIP() << "this build found no X11 (libx11-dev)"; }
#endif

INSTANTIATE_TEST_SUITE_P(On, EnginesInAWindow, ::testing::Values(webgpu, gles), name_of_case);

// ---- the lines that embed tessera -------------------------------------------------------------------------
std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
  return lines;
}

TEST(Embedding, TakesAboutThirtyMarkedLines) {
  for (const char* sample : {"in_webgpu_engine", "in_gles_engine"}) {
    int marked = 0;
    for (const char* file : {"renderer.h", "renderer.cpp"}) {
      bool is_marked = false;
      for (const std::string& line : lines_of(sources / sample / file)) {
        if (line == "// tessera: end") is_marked = false;
        marked += is_marked;
        if (line == "// tessera: begin") is_marked = true;
        EXPECT_TRUE(is_marked || line.find("tessera::") == std::string::npos) << line;
      }
      EXPECT_FALSE(is_marked);
    }
    EXPECT_GE(marked, 10) << sample;
    EXPECT_LE(marked, 30) << sample;
  }
}

TEST(Embedding, IsDocumentedWithTheSamplesOwnLines) {
  std::vector<std::string> known;
  for (const char* file : {"in_webgpu_engine/renderer.cpp", "in_gles_engine/renderer.cpp", "support/bloom.h"})
    for (std::string& line : lines_of(sources / file)) known.push_back(std::move(line));
  bool is_code = false;
  int checked = 0;
  for (const std::string& line : lines_of(sources / "../docs/embedding.md")) {
    if (line.starts_with("```")) {
      is_code = line == "```cpp";
    } else if (is_code) {
      ++checked;
      EXPECT_NE(std::find(known.begin(), known.end(), line), known.end()) << "not in the samples: " << line;
    }
  }
  EXPECT_GT(checked, 15);
}

}  // namespace
}  // namespace tessera::test
#else
TEST(Samples, WereBuilt) { GTEST_SKIP() << "the samples are not part of this build"; }
#endif
