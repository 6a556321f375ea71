// A peer of bench/compare in C++: it reads lines, and answers each with a line of JSON.
//
//   check 0 matmul 1 512 512 512 0      {"check": root mean square of the result, "sample": [some of its elements]}
//   run 5 matmul 1 512 512 512 0        {"ms": [one for each of five repetitions], "cpu_ms": of all threads, in sum}
//   facts 0 model FILE 1 3 640 640      {"load_ms": ..., }: whatever else the peer can tell
//
// An operation and its arguments are a workload, as workloads.mjs lists them; it is kept until another one is asked
// for.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace compare {

struct Workload {
  std::function<void()> run;                   // once, until the device is done
  std::function<std::vector<float>()> result;  // its elements
  std::function<std::map<std::string, double>()> facts{};
};

using Arguments = std::vector<std::string>;
using Make = std::function<Workload(const std::string& operation, const Arguments&)>;

// Answers a line, with the workload that it keeps.
class Answers {
 public:
  explicit Answers(Make make) : make_(std::move(make)) {}
  std::string operator()(const std::string& line);

 private:
  Make make_;
  std::string present_;
  std::optional<Workload> workload_;
};

// Says which device it runs on, and then answers until there are no more lines.
void serve(const std::string& device, const Make&);
void fail(const std::string& error);  // in place of the first line

double now_ms();
std::vector<std::int64_t> integers(const Arguments&);

// Uniform in [shift, shift + 1) * scale, the same numbers as in workloads.mjs.
std::vector<float> generated(std::int64_t count, std::uint32_t seed, float shift = -0.5f, float scale = 1);
std::vector<float> gaussian_5x5();

}  // namespace compare
