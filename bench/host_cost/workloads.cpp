// Work whose cost on the host is counted in instructions. Run by itself, it only says that all of it works; counts.h
// runs it under callgrind.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>

#include "bench/frames/picture.h"
#include "bench/frames/stage.h"

namespace tessera::bench {
namespace {

// Counts what some turns cost, after others in which kernels were compiled and storages allocated. The counts go to a
// file with this name at its end, and are those of `units` turns, operations or whatever else has a cost.
void count(const std::string& name, int units, const std::function<void()>& turns, const std::function<void()>& wait) {
  const std::string file = name + " / " + std::to_string(units);
  for (int i = 0; i < 3; ++i) turns(), wait();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  turns();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(file.c_str());
  wait();
}

constexpr int turns = 10;

void count_frames(const test::TestDevice& device, const std::string& name) {
  constexpr Size size{16, 12};
  for (const Entry& entry : all_pipelines()) {
    if (name != entry.name) continue;
    const Pipeline pipeline = entry.make({.size = size, .channels = 3, .pictures = noisy_pictures(size)});
    const auto stage = make_stage(device, pipeline, 3);
    const auto frames = stage->by_tensors();
    const auto by_hand = stage->by_hand(Format::rgba16f);
    const auto wait = [&] { stage->wait(); };
    for (int i = 0; i < 4; ++i) frames->next(), wait();
    const auto next = [](Frames& way) {
      return [&way] {
        for (int i = 0; i < turns; ++i) way.next();
      };
    };
    count("frame " + name, turns, next(*frames), wait);
    count("frame by hand " + name, turns, next(*by_hand), wait);
  }
}

void count_tensors(Context& gpu) {
  const auto wait = [&] { gpu.wait(); };
  const Tensor x = gpu.full({4, 4}, 0.5f).compute(), w = gpu.full({4, 4}, 0.25f).compute();
  constexpr int ops = 100;
  count(
      "lazy op", turns * ops,
      [&] {
        for (int i = 0; i < turns; ++i) {
          Tensor y = x;
          for (int k = 0; k < ops; ++k) y = y * w;
        }
      },
      wait);
  count(
      "compute", turns,
      [&] {
        for (int i = 0; i < turns; ++i) (void)relu(x * 2 + w).compute();
      },
      wait);
  count(
      "compute of 100 products", turns * 100,
      [&] {
        for (int i = 0; i < turns; ++i) {
          Tensor y = x;
          for (int k = 0; k < 100; ++k) y = matmul(y, w);
          (void)y.compute();
        }
      },
      wait);
  for (const int dispatches : {1, 10, 100}) {
    const Program program = Program::record(gpu, {{.shape = {4, 4}}}, [&](Tensors in) {
      Tensor y = in[0];
      for (int i = 0; i < dispatches; ++i) y = matmul(y, w);
      return std::vector{y};
    });
    count(
        "run of " + std::to_string(dispatches), turns,
        [&] {
          for (int i = 0; i < turns; ++i) (void)program.run({x});
        },
        wait);
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int arguments, char** argument) try {
  using namespace tessera;
  ::testing::GTEST_FLAG(throw_on_failure) = true;  // the hosts are those of the tests
  ::testing::InitGoogleTest();
  if (arguments < 3) return std::fputs("host_cost_workloads webgpu|gles DRIVER [PIPELINE…]\n", stderr), 2;
  const bool is_gles = std::strcmp(argument[1], "gles") == 0;
  const test::TestDevice device{argument[1], is_gles ? BackendKind::gles : BackendKind::webgpu, argument[2]};
  bench::count_tensors(test::shared_context(device));
  for (int i = 3; i < arguments; ++i) bench::count_frames(device, argument[i]);
  test::close_shared_contexts();
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
