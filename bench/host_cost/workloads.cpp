// Work whose cost on the host is counted in instructions. Run by itself, it only says that all of it works; counts.h
// runs it under callgrind.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>

#include "bench/frames/picture.h"
#include "bench/frames/stage.h"
#include <tessera/testing.h>

namespace tessera::bench {
namespace {

// Counts what some turns cost, after others in which kernels were compiled and storages allocated. The counts go to a
// file with this name at its end, and are those of `units` turns, operations or whatever else has a cost.
void count(const std::string& name, int units, const std::function<void()>& turns, const std::function<void()>& wait) {
  const std::string file = name + " / " + std::to_string(units);
  for (int i = 0; i < 2; ++i) turns(), wait();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  turns();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(file.c_str());
  wait();
}

constexpr int turns = 5;

// Work that repeats itself is counted with the kernels that it comes to have.
void settle(Context& gpu) {
  gpu.wait();
  testing::finish_tiers(gpu);
}

void count_frames(const test::TestDevice& device, const std::string& name, bool with_hand) {
  constexpr Size size{16, 12};
  for (const Entry& entry : all_pipelines()) {
    if (name != entry.name) continue;
    const Pipeline pipeline = entry.make({.size = size, .channels = 3, .pictures = noisy_pictures(size)});
    const auto stage = make_stage(device, pipeline, 3);
    const auto frames = stage->by_tensors();
    testing::take_all_tiers(stage->context());
    testing::try_only(stage->context(), testing::Tried::tiers);
    const auto wait = [&] {
      stage->wait();
      settle(stage->context());
    };
    for (int i = 0; i < 4; ++i) frames->next(), wait();
    const auto next = [](Frames& way) {
      return [&way] {
        for (int i = 0; i < turns; ++i) way.next();
      };
    };
    count("frame " + name, turns, next(*frames), wait);
    if (!with_hand) continue;
    const auto by_hand = stage->by_hand(Format::rgba16f);
    count("frame by hand " + name, turns, next(*by_hand), wait);
  }
}

Tensor matrix(Context& gpu, float value) { return gpu.tensor({4, 4}, std::vector<float>(16, value)); }

void count_lazy_op(Context& gpu) {
  const Tensor x = matrix(gpu, 0.5f), w = matrix(gpu, 0.25f);
  constexpr int ops = 20;
  const auto chains = [&] {
    for (int i = 0; i < turns; ++i) {
      Tensor y = x;
      for (int k = 0; k < ops; ++k) y = y * w;
    }
  };
  count("lazy op", turns * ops, chains, [] {});
}

// A chain of pointwise operations with a number and with a tensor in turn, which is one kernel: what building it,
// finding its plan and letting go of it costs for each operation.
void count_chain(Context& gpu, int ops) {
  const Tensor x = matrix(gpu, 0.5f).compute(), w = matrix(gpu, 0.25f).compute();
  const auto chains = [&] {
    for (int i = 0; i < turns; ++i) {
      Tensor y = x;
      for (int k = 0; k < ops; ++k) y = k % 2 == 0 ? y * 1.01f : y + w;
      (void)y.compute();
    }
  };
  count("op of a chain of " + std::to_string(ops), turns * ops, chains, [&] { settle(gpu); });
}

void count_computes(Context& gpu, int products) {
  const Tensor x = matrix(gpu, 0.5f).compute(), w = matrix(gpu, 0.25f).compute();
  const auto computes = [&] {
    for (int i = 0; i < turns; ++i) {
      Tensor y = x;
      for (int k = 0; k < products; ++k) y = matmul(y, w);
      (void)y.compute();
    }
  };
  count("compute of " + std::to_string(products), turns, computes, [&] { settle(gpu); });
}

void count_runs(Context& gpu, int products) {
  const Tensor x = matrix(gpu, 0.5f).compute(), w = matrix(gpu, 0.25f).compute();
  const Program program = Program::record(gpu, {{.shape = {4, 4}}}, [&](Tensors in) {
    Tensor y = in[0];
    for (int i = 0; i < products; ++i) y = matmul(y, w);
    return std::vector{y};
  });
  const auto runs = [&] {
    for (int i = 0; i < turns; ++i) (void)program.run({x});
  };
  count("run of " + std::to_string(products), turns, runs, [&] { settle(gpu); });
}

}  // namespace
}  // namespace tessera::bench

int main(int arguments, char** argument) try {
  using namespace tessera;
  ::testing::GTEST_FLAG(throw_on_failure) = true;  // the hosts are those of the tests
  ::testing::InitGoogleTest();
  if (arguments < 3) return std::fputs("host_cost_workloads webgpu|gles DRIVER [--brief] [PIPELINE…]\n", stderr), 2;
  const bool is_gles = std::strcmp(argument[1], "gles") == 0;
  const test::TestDevice device{argument[1], is_gles ? BackendKind::gles : BackendKind::webgpu, argument[2]};
  Context gpu = Context::create({.prefer = {device.backend}, .driver = device.driver, .tuning = Tuning::eager});
  tessera::testing::take_all_tiers(gpu);
  tessera::testing::try_only(gpu, tessera::testing::Tried::tiers);
  bench::count_lazy_op(gpu);
  const bool is_brief = arguments > 3 && std::strcmp(argument[3], "--brief") == 0;
  const int many = is_brief ? 11 : 101;
  bench::count_chain(gpu, 100);
  for (const int products : {1, many}) bench::count_computes(gpu, products);
  for (const int products : {1, many}) bench::count_runs(gpu, products);
  for (int i = is_brief ? 4 : 3; i < arguments; ++i) bench::count_frames(device, argument[i], !is_brief);
  test::close_shared_contexts();
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
