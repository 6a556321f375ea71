// From the host to the device and back, and batches of inputs that come from the host. Promised are 10 MB up and down
// within a second, and ten inputs of 1 MB as a batch within two.
#include "bench/support.h"
#include <tessera/batches.h>

namespace tessera::bench {
namespace {

constexpr std::int64_t megabyte = 1 << 20;

std::vector<float> values(std::int64_t bytes) {
  std::vector<float> made(static_cast<std::size_t>(bytes) / sizeof(float));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i % 1000);
  return made;
}

void check(bool is_right) {
  if (!is_right) throw Error(ErrorCode::unsupported, "transfer_bench: a wrong value came back.");
}

}  // namespace

void add_workloads() {
  add_task("round_trip/10MB", 20 * megabyte, 1, [from = values(10 * megabyte)](Context& context) {
    const Tensor x = context.tensor({static_cast<std::int64_t>(from.size())}, from);
    check((x + 0.0f).read() == from);
  });
  add_task("batches/10_of_1MB_square_mean", 10 * megabyte, 2, [from = values(megabyte)](Context& context) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < 10; ++i) inputs.push_back(context.tensor({static_cast<std::int64_t>(from.size())}, from));
    std::size_t done = 0;
    for_each_batch(
        context, inputs, [](const Tensor& x) { return mean(square(x)); },
        [&](std::size_t, const Tensor& result) {
          check(result.read()[0] > 0);
          ++done;
        });
    check(done == inputs.size());
  });
}

}  // namespace tessera::bench
