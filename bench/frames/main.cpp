// How much longer a frame takes as tensor code than as shaders by hand, on one device and in turns, so that whatever
// else the machine does meets both. options.cpp has the command line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/frames/options.h"
#include "bench/frames/picture.h"
#include "bench/frames/stage.h"
#include "samples/support/png.h"
#include "support/pictures.h"
#include <tessera/monitor.h>
#include <tessera/testing.h>

namespace tessera::bench {
namespace {

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

double milliseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// One way of making frames, with what each of them took.
struct Timed {
  std::unique_ptr<Frames> frames;
  std::vector<double> all, host;  // milliseconds until the device was done, and of the calling thread's own work

  void run(Stage& stage, clockid_t clock) {
    const double begin = milliseconds(clock);
    // How long this thread works: drivers in software take the cores away from it meanwhile.
    const double before = milliseconds(CLOCK_THREAD_CPUTIME_ID);
    frames->next();
    host.push_back(milliseconds(CLOCK_THREAD_CPUTIME_ID) - before);
    stage.wait();
    all.push_back(milliseconds(clock) - begin);
  }
};

struct Line {
  std::string device, pipeline, size, channels;
  double tessera, by_hand, ratio;
  double full, ratio_full;                           // tessera with Precision::full
  std::optional<double> by_hand_8_bit, ratio_8_bit;  // where there is something between passes
  std::uint64_t dispatches, passes;
  double host, host_by_hand;
};

// Frames until nothing more is compiled: kernels may be made anew, in the background, for what repeats.
void warm_up(Stage& stage, std::span<Timed* const> ways, clockid_t clock) {
  std::uint64_t compiled = 0;
  for (int steady = 0; steady < 5; ++steady) {
    for (Timed* way : ways) way->run(stage, clock);
    testing::finish_tiers(stage.context());
    if (stage.context().stats().kernels_compiled != compiled) steady = 0;
    compiled = stage.context().stats().kernels_compiled;
  }
  for (Timed* way : ways) way->all.clear(), way->host.clear();
}

Line measure(Stage& stage, const Pipeline& pipeline, int runs, clockid_t clock) {
  Timed tensors{stage.by_tensors()}, full{stage.by_tensors(Precision::full)}, by_hand{stage.by_hand(Format::rgba16f)},
      by_hand_8_bit{};
  check_alike(pipeline, *tensors.frames, *by_hand.frames);
  check_alike(pipeline, *full.frames, *stage.by_hand(Format::rgba16f));
  std::vector<Timed*> ways{&tensors, &by_hand, &full};
  if (!pipeline.between.empty() || pipeline.history) {
    by_hand_8_bit.frames = stage.by_hand(Format::rgba8);
    check_alike(pipeline, *tensors.frames, *by_hand_8_bit.frames, Format::rgba8);
    ways.push_back(&by_hand_8_bit);
  }
  warm_up(stage, ways, clock);
  stage.context().reset_stats();
  for (int i = 0; i < runs; ++i) {
    for (Timed* way : ways) way->run(stage, clock);
    std::ranges::rotate(ways, ways.begin() + 1);
  }
  Line line{.tessera = median(tensors.all),
            .by_hand = median(by_hand.all),
            .full = median(full.all),
            .dispatches = stage.context().stats().dispatches / static_cast<std::uint64_t>(2 * runs),
            .passes = pipeline.passes.size(),
            .host = median(tensors.host),
            .host_by_hand = median(by_hand.host)};
  line.ratio = line.tessera / line.by_hand;
  line.ratio_full = line.full / line.by_hand;
  if (by_hand_8_bit.frames) {
    line.by_hand_8_bit = median(by_hand_8_bit.all);
    line.ratio_8_bit = line.tessera / *line.by_hand_8_bit;
  }
  return line;
}

nlohmann::ordered_json json_of(const Line& line) {
  const auto or_null = [](const std::optional<double>& number) {
    return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
  };
  return {{"device", line.device},
          {"pipeline", line.pipeline},
          {"size", line.size},
          {"channels", line.channels},
          {"tessera_ms", line.tessera},
          {"by_hand_ms", line.by_hand},
          {"ratio", line.ratio},
          {"tessera_full_ms", line.full},
          {"ratio_full", line.ratio_full},
          {"by_hand_8_bit_ms", or_null(line.by_hand_8_bit)},
          {"ratio_8_bit", or_null(line.ratio_8_bit)},
          {"dispatches", line.dispatches},
          {"passes", line.passes},
          {"host_ms", line.host},
          {"host_by_hand_ms", line.host_by_hand}};
}

void print_head(const std::string& device) {
  std::printf("on %s; f16 between passes; then tessera with f32, and by hand with 8 bits\n", device.c_str());
  std::printf("%-14s %-9s %-4s %8s %8s %6s  %8s %6s  %8s %6s  %13s  %13s\n", "pipeline", "size", "", "tessera",
              "by hand", "ratio", "f32", "ratio", "8 bits", "ratio", "passes", "host ms");
}

void print(const Line& line) {
  char eight_bits[32] = "";
  if (line.by_hand_8_bit)
    std::snprintf(eight_bits, sizeof eight_bits, "%8.2f %6.2f", *line.by_hand_8_bit, *line.ratio_8_bit);
  std::printf("%-14s %-9s %-4s %8.2f %8.2f %6.2f  %8.2f %6.2f  %15s  %4d, by hand %d  %.2f, %.2f\n",
              line.pipeline.c_str(), line.size.c_str(), line.channels.c_str(), line.tessera, line.by_hand, line.ratio,
              line.full, line.ratio_full, eight_bits, static_cast<int>(line.dispatches), static_cast<int>(line.passes),
              line.host, line.host_by_hand);
  std::fflush(stdout);
}

// With a monitor each kernel is a pass of its own, so that this is apart from measuring.
void print_kernels(Stage& stage) {
  constexpr int frames = 10;
  const auto tensors = stage.by_tensors();
  tensors->next();
  stage.wait();
  Monitor monitor(stage.context());
  for (int i = 0; i < frames; ++i) tensors->next();
  for (const TimeStats& kernel : monitor.report({.wait = true}).kernels)
    std::printf("    %8.2f ms  %3g x %s\n", kernel.total / frames, static_cast<double>(kernel.count) / frames,
                kernel.name.c_str());
}

// The last frames of both, one above the other, in grey where they have one component.
void write_picture(const Pipeline& pipeline, Frames& tensors, Frames& by_hand, const std::string& path) {
  const Texture& target = pipeline.targets[0];
  const std::size_t count = target.format == Format::tensor ? 3 : components(target.format);
  Bytes rgb;
  for (Frames* frames : {&tensors, &by_hand}) {
    const std::vector<float> values = frames->values(0);
    for (std::size_t i = 0; i < values.size(); i += count)
      for (std::size_t c = 0; c < 3; ++c) {
        float value = values[i + std::min(c, count - 1)];
        if (target.format == Format::tensor) value = value / 4 + 0.5f;  // its zero is grey
        rgb.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255));
      }
  }
  sample::write_png(path, target.size.width, target.size.height * 2, rgb);
}

HostWay way_of(const Options& options) {
  return {.asks_errors_later = options.is_release, .names_work = !options.is_release};
}

bool is_wanted(const Options& options, const Entry& entry, int channels) {
  return (options.only.empty() || std::ranges::count(options.only, std::string(entry.name)) > 0) &&
         (channels == 3 || entry.has_alpha);
}

std::vector<Bytes> pictures_of(const Options& options, Size size) {
  if (options.picture.empty()) return noisy_pictures(size);
  const test::Picture picture = test::load(options.picture);
  if (picture.rgb.empty()) throw std::runtime_error("cannot read " + options.picture);
  return noisy_pictures(size, picture.rgb, {picture.width, picture.height});
}

// False where a pipeline's two ways do not agree, or one does not work.
bool run(const Options& options, const test::TestDevice& device, nlohmann::ordered_json& lines) {
  const std::string label = test::shared_context(device).device().driver;
  if (!options.json && options.pictures_to.empty()) print_head(label);
  bool is_good = true;
  std::vector<double> ratios;
  for (const Size size : options.sizes) {
    const std::vector<Bytes> pictures = pictures_of(options, size);
    for (const int channels : options.channels)
      for (const Entry& entry : all_pipelines()) try {
          if (!is_wanted(options, entry, channels)) continue;
          const Pipeline pipeline = entry.make({.size = size, .channels = channels, .pictures = pictures});
          const auto stage = make_stage(device, pipeline, channels, way_of(options));
          if (!options.pictures_to.empty()) {
            const auto tensors = stage->by_tensors(), by_hand = stage->by_hand(Format::rgba16f);
            for (int i = 0; i < 10; ++i) tensors->next(), by_hand->next();
            write_picture(pipeline, *tensors, *by_hand,
                          (std::filesystem::path(options.pictures_to) / (std::string(entry.name) + ".png")).string());
            continue;
          }
          Line line = measure(*stage, pipeline, options.runs, options.cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
          line.device = label;
          line.pipeline = entry.name;
          line.size = std::to_string(size.width) + "x" + std::to_string(size.height);
          line.channels = channels == 3 ? "RGB" : "RGBA";
          ratios.push_back(std::log(line.ratio));
          lines.push_back(json_of(line));
          if (!options.json) print(line);
          if (!options.json && options.kernels) print_kernels(*stage);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s at %dx%d FAILED: %s\n", entry.name, size.width, size.height, error.what());
          is_good = false;
        }
  }
  if (!options.json && !ratios.empty()) {
    double sum = 0;
    for (const double ratio : ratios) sum += ratio;
    std::printf("geometric mean of %d ratios: %.2f\n\n", static_cast<int>(ratios.size()),
                std::exp(sum / static_cast<double>(ratios.size())));
  }
  return is_good;
}

}  // namespace
}  // namespace tessera::bench

int main(int count, char** arguments) {
  using namespace tessera;
  ::testing::GTEST_FLAG(throw_on_failure) = true;  // the hosts are those of the tests
  ::testing::InitGoogleTest();
  const std::optional<bench::Options> options = bench::parse_options(count, arguments);
  if (!options) {
    std::fputs(bench::usage, stderr);
    return 2;
  }
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  bool is_good = true;
  for (const BackendKind backend : options->backends) try {
      const test::TestDevice device{to_string(backend).data(), backend, options->driver.c_str()};
      is_good = bench::run(*options, device, lines) && is_good;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      is_good = false;
    }
  if (options->json) std::puts(lines.dump(2).c_str());
  test::close_shared_contexts();
  return is_good ? 0 : 1;
}
