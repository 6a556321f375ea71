// The sample read_text: boxes of lines from maps of pixels, and the text in a picture.
#include <gtest/gtest.h>
#ifdef TESSERA_READ_TEXT

#include <cmath>

#include "reader.h"
#include "support/commit.h"
#include "support/devices.h"

namespace tessera::test::read_text_test {
namespace {

constexpr int map_width = 120, map_height = 80;

// A map with a rectangle of these pixels that are as likely text, turned around its centre.
void draw(std::vector<float>& map, Point centre, double width, double height, double radians, float likely) {
  for (int y = 0; y < map_height; ++y)
    for (int x = 0; x < map_width; ++x) {
      const double dx = x + 0.5 - centre.x, dy = y + 0.5 - centre.y;
      const double along = dx * std::cos(radians) + dy * std::sin(radians),
                   across = dy * std::cos(radians) - dx * std::sin(radians);
      if (std::abs(along) <= width / 2 && std::abs(across) <= height / 2)
        map[static_cast<std::size_t>(y * map_width + x)] = likely;
    }
}

TEST(TextBoxes, LieAroundWhatIsLikely) {
  std::vector<float> map(map_width * map_height, 0.1f);
  draw(map, {60, 60}, 40, 6, 0, 0.9f);
  draw(map, {40, 25}, 50, 8, -0.3, 0.8f);
  draw(map, {100, 20}, 20, 8, 0, 0.4f);  // not likely enough
  draw(map, {100, 40}, 10, 2, 0, 0.9f);  // too thin
  const std::vector<TextBox> boxes = find_boxes(map, map_width, map_height);
  ASSERT_EQ(boxes.size(), 2u);  // from the top to the bottom
  EXPECT_NEAR(boxes[0].centre.x, 40, 1);
  EXPECT_NEAR(boxes[0].centre.y, 25, 1);
  EXPECT_NEAR(std::atan2(boxes[0].direction.y, boxes[0].direction.x), -0.3, 0.05);
  // Each side moves out by 1.5 times the area by the circumference.
  EXPECT_NEAR(boxes[1].width, 40 + 2 * 40 * 6 * 1.5 / 92, 0.01);
  EXPECT_NEAR(boxes[1].height, 6 + 2 * 40 * 6 * 1.5 / 92, 0.01);
  EXPECT_NEAR(boxes[1].corners()[0].x, 60 - boxes[1].width / 2, 0.01);
  EXPECT_NEAR(boxes[1].corners()[2].y, 60 + boxes[1].height / 2, 0.01);
  EXPECT_TRUE(find_boxes(std::vector<float>(map.size(), 0.1f), map_width, map_height).empty());
}

TEST(TextOfSteps, HasSpacesWhereGapsAreLikely) {
  const std::vector<std::string> characters{"", "a", "b", " "};
  // a, nothing, a; a gap of two steps that hold a space for less likely than nothing; bb, which is one b; a space.
  const auto [text, confidence] = text_of({.characters = {0, 1, 0, 1, 0, 0, 2, 2, 3, 1, 0},
                                           .scores = {1, 0.5f, 1, 0.5f, 0.9f, 0.9f, 1, 1, 0.9f, 1, 1},
                                           .spaces = {0.9f, 0, 0.02f, 0, 0.04f, 0.05f, 0, 0, 0.9f, 0, 0.9f}},
                                          characters);
  EXPECT_EQ(text, "aa b a");
  EXPECT_DOUBLE_EQ(confidence, 0.75);
  EXPECT_EQ(text_of({}, characters).first, "");
}

// A device of the commit, for networks take their time to compile; TESSERA_NETWORKS=all takes all of them.
std::vector<TestDevice> chosen_devices() {
  std::vector<TestDevice> devices = gpu_devices();
  const char* given = std::getenv("TESSERA_NETWORKS");
  if (given && std::string_view(given) == "all") return devices;
  std::erase_if(devices, [](const TestDevice& device) {
    return is_left_out(device) || std::string_view(device.name).find("swiftshader") != std::string_view::npos;
  });
  return {devices.at(hash_of(commit() + "read_text") % devices.size())};
}

TEST(TextReader, ReadsALine) {
  const std::filesystem::path folder = TESSERA_READ_TEXT;
  if (!std::filesystem::exists(folder / "detector.onnx")) GTEST_SKIP() << "the networks were not fetched";
  const std::array<std::string_view, 7> letters{
      "#####.#####.#####.#...#.#####.####.", "..#...#.....#.....#...#.#.....#...#",
      "..#...#.....#.....#...#.#.....#...#", "..#...####..####..#...#.####..####.",
      "..#...#.....#.....#...#.#.....#.#..", "..#...#.....#.....#...#.#.....#..#.",
      "..#...#####.#......###..#####.#...#"};
  constexpr int size = 4, width = 192, height = 64;
  std::vector<float> pixels(width * height * 3, 0.95f);
  for (int y = 0; y < 7 * size; ++y)
    for (int x = 0; x < 35 * size; ++x)
      if (letters[static_cast<std::size_t>(y / size)][static_cast<std::size_t>(x / size)] == '#')
        for (int c = 0; c < 3; ++c) pixels[static_cast<std::size_t>(((y + 18) * width + x + 26) * 3 + c)] = 0.1f;
  for (const TestDevice& device : chosen_devices()) {
    SCOPED_TRACE(device.name);
    Context& gpu = shared_context(device);
    ::TextReader reader(gpu, folder);
    const std::vector<Line> lines = reader(gpu.tensor({height, width, 3}, pixels));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text, "TEFUER");
    EXPECT_NEAR(lines[0].box.centre.x, 96, 6);
    EXPECT_NEAR(lines[0].box.centre.y, 32, 3);
  }
}

}  // namespace
}  // namespace tessera::test::read_text_test
#else
TEST(ReadText, WasBuilt) { GTEST_SKIP() << "the sample read_text is not part of this build"; }
#endif
