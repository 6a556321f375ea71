// Programs that run for days, in short: many small frames with lost devices, switches and spilling, and memory stays
// flat.
//
// TESSERA_SOAK_FRAMES=100000 soak_test --gtest_filter='*swiftshader'   # that many frames; else a few seconds of them
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::soak_test {
namespace {

constexpr std::uint64_t kilobyte = 1024;

std::uint64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
  return 0;
}

class Soak : public OnDevice {};

// Frames by number, or else by time.
class Frames {
 public:
  Frames() {
    if (const char* wanted = std::getenv("TESSERA_SOAK_FRAMES")) frames_ = std::strtoull(wanted, nullptr, 10);
  }
  bool goes_on(std::uint64_t frame) const {
    if (frames_ > 0) return frame < frames_;
    return frame < 50 || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(2);
  }
  // How often something rare happens: often enough to happen in a few seconds too.
  std::uint64_t every(std::uint64_t in_a_long_run, std::uint64_t in_a_short_one) const {
    return frames_ > 0 ? in_a_long_run : in_a_short_one;
  }

 private:
  std::uint64_t frames_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_P(Soak, MemoryAndObjectsStayFlat) {
  constexpr std::int64_t elements = 4096;
  constexpr std::size_t ring = 8;  // results that are held, of 16 KB each: more than the budget
  Context context =
      Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = 96 * kilobyte});
  const std::int64_t nodes_before = testing::live_nodes();
  {
    const Tensor weights = context.tensor({elements}, std::vector<float>(elements, 2));
    const Program program = Program::record(context, {{.shape = {elements}}}, [&](std::span<const Tensor> in) {
      return std::vector{in[0] * weights + 1.0f};
    });
    std::vector<Tensor> held(ring);
    std::vector<float> expected(ring, 0);
    const Frames frames;
    const std::uint64_t loss_every = frames.every(1000, 97), switch_every = frames.every(2500, 149);
    std::uint64_t losses = 0, switches = 0, wrong = 0, spilled = 0, frame = 0;
    std::int64_t most_nodes = 0, most_tensors = 0;
    std::uint64_t rss_after_warming_up = 0, frames_to_warm_up = frames.every(10000, 40);
    for (; frames.goes_on(frame); ++frame) {
      const std::size_t slot = frame % ring;
      const auto number = static_cast<float>(frame % 1000);
      const Tensor input = context.full({elements}, number);
      held[slot] = frame % 2 ? program.run({input})[0] : (input * weights + 1.0f).compute();
      expected[slot] = 2 * number + 1;
      if (frame % 10 == 0) {
        const std::size_t oldest = (slot + 1) % ring;  // which may have been spilled
        if (held[slot].read()[7] != expected[slot]) ++wrong;
        if (frame >= ring && held[oldest].read()[elements - 1] != expected[oldest]) ++wrong;
      }
      if (frame % 1000 == 5) {
        auto late = held[slot].read_async();
        if (late.get()[1] != expected[slot]) ++wrong;
      }
      if (frame % loss_every == loss_every - 1) {
        testing::lose_device(context);
        ++losses;
      }
      if (frame % switch_every == switch_every / 2) {
        context.switch_backend(BackendKind::cpu);
        if (held[slot].read()[3] != expected[slot]) ++wrong;
        context.switch_backend(GetParam().backend, GetParam().driver);
        ++switches;
      }
      const MemoryInfo memory = context.memory();
      spilled += memory.bytes_spilled > 0;
      most_tensors = std::max(most_tensors, memory.num_tensors);
      most_nodes = std::max(most_nodes, testing::live_nodes() - nodes_before);
      if (frame == frames_to_warm_up) rss_after_warming_up = resident_kilobytes();
    }
    for (std::size_t i = 0; i < ring; ++i)
      wrong += held[i].read()[11] != expected[i];  // a loss in the last frame shows here
    const std::uint64_t rss = resident_kilobytes();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(losses, 0u);
    EXPECT_GT(switches, 0u);
    EXPECT_GT(spilled, 0u);
    if (GetParam().backend != BackendKind::cpu) {
      EXPECT_EQ(context.stats().device_losses, losses);
    }
    EXPECT_LE(most_tensors, 64);  // the ring, the weights, inputs, and what lineage keeps on the host
    EXPECT_LE(most_nodes, 512);
    std::printf(
        "%s: %llu frames, %llu losses, %llu switches, %llu frames with spilled tensors, at most %lld tensors and "
        "%lld nodes, resident %llu KB after %llu frames and %llu KB at the end\n",
        GetParam().name, static_cast<unsigned long long>(frame), static_cast<unsigned long long>(losses),
        static_cast<unsigned long long>(switches), static_cast<unsigned long long>(spilled),
        static_cast<long long>(most_tensors), static_cast<long long>(most_nodes),
        static_cast<unsigned long long>(rss_after_warming_up), static_cast<unsigned long long>(frames_to_warm_up),
        static_cast<unsigned long long>(rss));
    // Drivers keep a little of each device that was lost; frames leave nothing. Sanitizers keep what was freed.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const std::uint64_t for_devices = (losses + 2 * switches) * 1024;
    EXPECT_LE(rss, rss_after_warming_up + 32 * 1024 + for_devices);
#endif
  }
  context.wait();
  EXPECT_EQ(context.memory().num_tensors, 0);
  EXPECT_EQ(testing::live_nodes(), nodes_before);
}

TESSERA_ON_EACH_BACKEND(Soak);

}  // namespace
}  // namespace tessera::test::soak_test
