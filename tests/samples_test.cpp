// The engines among the samples, off screen on each driver and in a window on an X server: their pictures, and what
// they print about tessera in them.
#include <gtest/gtest.h>
#ifdef TESSERA_SAMPLES

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/pictures.h"
#include "support/running.h"
#ifdef TESSERA_HAS_X11
#include "support/screen.h"
#endif
#include "support/temporary_folder.h"
#include "support/virtual_display.h"

namespace tessera::test::samples_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

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
const Engine vulkan_swiftshader{"in_vulkan_engine", "", "3 submissions", "SwiftShader", {no_leak_check, swiftshader}};
const auto name_of_case = [](const ::testing::TestParamInfo<Engine>& info) { return name_of(info.param); };

INSTANTIATE_TEST_SUITE_P(On, Engines,
                         ::testing::Values(webgpu, webgpu_swiftshader, gles, gles_angle, vulkan_swiftshader),
                         name_of_case);

// ---- windows ----------------------------------------------------------------------------------------------
class EnginesInAWindow : public Engines {};

#ifdef TESSERA_HAS_X11
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
  for (const char* sample : {"in_webgpu_engine", "in_gles_engine", "in_vulkan_engine"}) {
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
  for (const char* file : {"in_webgpu_engine/renderer.cpp", "in_gles_engine/renderer.cpp",
                           "in_vulkan_engine/renderer.cpp", "support/bloom.h"})
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
}  // namespace tessera::test::samples_test
#else
TEST(Samples, WereBuilt) { GTEST_SKIP() << "the samples are not part of this build"; }
#endif
