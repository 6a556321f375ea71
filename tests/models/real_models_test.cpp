// The networks of the samples agree with what TF.js and onnxruntime compute on the CPU; expect_real_models.mjs wrote
// real_models.json.
#include <tessera/model.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/commit.h"
#include "support/devices.h"
#include "support/temporary_folder.h"

namespace tessera::test::real_models_test {
namespace {

// The pictures are the same as in expect_real_models.mjs: what pixel (x,y) of three channels is. A head and shoulders
// before a wall:
double portrait(double x, double y, double width, double height, std::size_t c) {
  using Colour = std::array<double, 3>;
  const double u = x / width * 256 - 128, v = y / height * 256;
  const auto in_ellipse = [&](double row, double a, double b, double column = 0) {
    return (u - column) / a * ((u - column) / a) + (v - row) / b * ((v - row) / b) < 1;
  };
  if (in_ellipse(104, 4, 4, -14) || in_ellipse(104, 4, 4, 14) || in_ellipse(134, 10, 3))
    return Colour{0.4, 0.2, 0.15}[c];
  if (in_ellipse(108, 36, 48) && v > 78) return Colour{0.88, 0.69, 0.56}[c];
  if (in_ellipse(95, 46, 58)) return Colour{0.23, 0.16, 0.13}[c];
  if (in_ellipse(256, 90, 76) && v > 180) return Colour{0.18, 0.27, 0.41}[c];
  if (std::abs(u) < 16 && v > 100 && v < 200) return Colour{0.85, 0.66, 0.53}[c];
  return Colour{0.72, 0.77, 0.81}[c] - v / 256 * 0.16;
}

// And dark letters on white, in squares of a 48th of the width.
double writing(double x, double y, double width, double height, std::size_t) {
  static const std::array<std::string_view, 7> letters{
      "#####.#####..####..####.#####.####...###.", "..#...#.....#.....#.....#.....#...#.#...#",
      "..#...#.....#.....#.....#.....#...#.#...#", "..#...####...###...###..####..####..#####",
      "..#...#.........#.....#.#.....#.#...#...#", "..#...#.........#.....#.#.....#..#..#...#",
      "..#...#####.####..####..#####.#...#.#...#",
  };
  const double size = std::floor(width / 48), row = std::floor((y - std::floor(height / 2)) / size + 3.5),
               column = std::floor(x / size) - 3;
  const bool is_inside = row >= 0 && row < 7 && column >= 0 && column < static_cast<double>(letters[0].size());
  return is_inside && letters[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] == '#' ? 0.1 : 0.9;
}

std::vector<float> picture(const Shape& shape, bool channels_last, float scale) {
  const std::int64_t height = shape[channels_last ? 1 : 2], width = shape[channels_last ? 2 : 3];
  std::vector<float> values(static_cast<std::size_t>(height * width * 3));
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto colour = static_cast<float>((channels_last ? portrait : writing)(
            static_cast<double>(x), static_cast<double>(y), static_cast<double>(width), static_cast<double>(height),
            static_cast<std::size_t>(c)));
        values[static_cast<std::size_t>(channels_last ? (y * width + x) * 3 + c : (c * height + y) * width + x)] =
            channels_last ? colour * scale : colour * scale - 1;
      }
  return values;
}

class RealModels : public OnDevice {};
TESSERA_ON_ALL_DEVICES(RealModels);

// A quick run takes one network on each device, by the commit; TESSERA_NETWORKS=all takes all of them.
bool is_chosen(std::size_t row, std::size_t rows, const std::string& device) {
  const char* given = std::getenv("TESSERA_NETWORKS");
  return (given && std::string_view(given) == "all") || hash_of(commit() + device) % rows == row;
}

TEST_P(RealModels, AgreeWithOtherRuntimes) {
  const std::filesystem::path folder = TESSERA_SAMPLE_MODELS_FOLDER;
  if (!std::filesystem::exists(folder / "stamp")) GTEST_SKIP() << "the networks of the samples were not fetched";
  const auto rows = nlohmann::json::parse(bytes_of(TESSERA_REAL_MODELS));
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_chosen(i, rows.size(), GetParam().name)) continue;
    const nlohmann::json& row = rows[i];
    const auto file = row["file"].get<std::string>();
    SCOPED_TRACE(file);
    const std::uint64_t empty = context().memory().bytes_in_use;
    const Model model = Model::load(context(), folder / file);
    const Shape shape(row["shape"].get<std::vector<std::int64_t>>());
    ASSERT_EQ(model.inputs().size(), 1u);
    model.prepare({{model.inputs()[0].name, shape}}).get();
    const std::uint64_t weights = context().memory().bytes_in_use - empty;
    const auto result = [&] {
      const Tensor x = context().tensor(shape, picture(shape, file.ends_with(".json"), row["scale"].get<float>()));
      const Tensor y = model({{model.inputs()[0].name, x}})[model.outputs()[0].name];
      EXPECT_EQ(y.shape(), Shape(row["result"].get<std::vector<std::int64_t>>()));
      return y.read();
    };
    const std::vector<float> got = result(), wanted = row["values"].get<std::vector<float>>();
    // Kernels may have laid the weights out, with some padding, and the device does not hold them twice.
    EXPECT_LE(context().memory().bytes_in_use - empty, weights + weights / 50);
    const auto places = row["places"].get<std::vector<std::size_t>>();
    ASSERT_EQ(wanted.size(), places.size());
    for (std::size_t k = 0; k < places.size(); ++k)
      EXPECT_NEAR(got.at(places[k]), wanted[k], 1e-3 * std::max(1.0f, std::abs(wanted[k]))) << "element " << places[k];
  }
}

// Under a budget each result has a storage of just its size: nothing of a run has to leave the device where there is
// room for the weights, the input and the most that is alive at a time.
TEST_P(RealModels, RunInTheirWeightsAndLargestLiveSet) {
  const std::filesystem::path folder = TESSERA_SAMPLE_MODELS_FOLDER;
  if (!std::filesystem::exists(folder / "stamp")) GTEST_SKIP() << "the networks of the samples were not fetched";
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the oracle moves nothing";
  const auto rows = nlohmann::json::parse(bytes_of(TESSERA_REAL_MODELS));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_chosen(i, rows.size(), GetParam().name)) continue;
    const auto file = rows[i]["file"].get<std::string>();
    SCOPED_TRACE(file);
    const Shape shape(rows[i]["shape"].get<std::vector<std::int64_t>>());
    std::uint64_t budget = std::uint64_t{1} << 30;
    std::vector<float> with_plenty;
    for (const bool has_plenty : {true, false}) {
      Context gpu =
          Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = budget});
      const Model model = Model::load(gpu, folder / file);
      const Tensor x =
          gpu.tensor(shape, picture(shape, file.ends_with(".json"), rows[i]["scale"].get<float>())).compute();
      const auto result = [&] { return model({{model.inputs()[0].name, x}})[model.outputs()[0].name].compute(); };
      result();  // lays weights out
      const std::uint64_t spilled = gpu.memory().bytes_spilled;
      gpu.reset_stats();
      const std::vector<float> values = result().read();
      EXPECT_EQ(gpu.stats().bytes_uploaded, 0u);
      EXPECT_EQ(gpu.memory().bytes_spilled, spilled);
      const MemoryInfo memory = gpu.memory();
      EXPECT_LE(memory.bytes_in_use + memory.bytes_pooled, budget);
      EXPECT_LE(memory.bytes_peak, budget);
      if (has_plenty) with_plenty = values, budget = memory.bytes_peak;
      else EXPECT_EQ(values, with_plenty);
    }
  }
}

}  // namespace
}  // namespace tessera::test::real_models_test
