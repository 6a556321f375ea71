// Prints how many instructions the host spends on operations, runs and frames.
#include <cstdio>
#include <exception>

#include "bench/host_cost/counts.h"

int main(int arguments, char** argument) try {
  using namespace tessera::bench;
  std::string of_workloads;
  for (int i = 1; i < arguments; ++i) of_workloads += std::string(i > 1 ? " '" : "'") + argument[i] + "'";
  if (of_workloads.empty())
    return std::fputs("host_cost webgpu|gles DRIVER [--brief] [PIPELINE of bench/frames…]\n", stderr), 2;
  if (const std::string reason = why_nothing_is_counted(); !reason.empty())
    return std::fprintf(stderr, "%s\n", reason.c_str()), 1;
  std::printf("%-26s %12s %12s %12s\n", "instructions of each", "tessera", "driver", "allocations");
  for (const Count& count : count_instructions(std::string(argument[0]) + "_workloads", of_workloads))
    std::printf("%-26s %12.0f %12.0f %12.1f\n", count.name.c_str(), count.tessera, count.driver, count.allocations);
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
