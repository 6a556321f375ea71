#include "peer.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>

namespace compare {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + number(value);
  return "[" + text + "]";
}

std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text.substr(0, 300))
    if (c == '"' || c == '\\') result += std::string("\\") + c;
    else result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return "\"" + result + "\"";
}

std::string check_of(const std::vector<float>& values) {
  double total = 0;
  for (const float value : values) total += static_cast<double>(value) * value;
  std::vector<double> sample;
  const std::size_t count = values.size(), wanted = std::min<std::size_t>(count, 1000);
  for (std::size_t i = 0; i < wanted; ++i) sample.push_back(values[i * count / wanted]);
  return "{\"check\":" + number(std::sqrt(total / static_cast<double>(count))) +
         ",\"count\":" + number(static_cast<double>(count)) + ",\"sample\":" + list(sample) + "}";
}

double cpu_ms() {  // of all threads, the driver's included
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

std::string answer(const std::string& verb, int count, const Workload& workload) {
  if (verb == "check") return check_of(workload.result());
  if (verb == "facts") {
    std::string text;
    if (workload.facts)
      for (const auto& [name, value] : workload.facts())
        text += (text.empty() ? "" : ",") + quoted(name) + ":" + number(value);
    return "{" + text + "}";
  }
  std::vector<double> times;
  const double cpu_before = cpu_ms();
  for (int i = 0; i < count; ++i) {
    const double before = now_ms();
    workload.run();
    times.push_back(now_ms() - before);
  }
  return "{\"ms\":" + list(times) + ",\"cpu_ms\":" + number(cpu_ms() - cpu_before) + "}";
}

}  // namespace

std::string Answers::operator()(const std::string& line) {
  std::istringstream words(line);
  std::string verb, operation, word;
  int count = 0;
  words >> verb >> count >> operation;
  Arguments arguments;
  while (words >> word) arguments.push_back(word);
  try {
    const std::string wanted = line.substr(line.find(operation));
    if (wanted != present_ || !workload_) {
      workload_.reset();
      present_ = wanted;
      workload_ = make_(operation, arguments);
    }
    return answer(verb, count, *workload_);
  } catch (const std::exception& error) {
    return "{\"error\":" + quoted(error.what()) + "}";
  }
}

void serve(const std::string& device, const Make& make) {
  std::cout << "{\"device\":" << quoted(device) << "}" << std::endl;
  Answers answers(make);
  for (std::string line; std::getline(std::cin, line);) std::cout << answers(line) << std::endl;
}

void fail(const std::string& error) { std::cout << "{\"error\":" << quoted(error) << "}" << std::endl; }

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::int64_t> integers(const Arguments& arguments) {
  std::vector<std::int64_t> values;
  for (const std::string& argument : arguments) values.push_back(std::stoll(argument));
  return values;
}

std::vector<float> generated(std::int64_t count, std::uint32_t seed, float shift, float scale) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    std::uint32_t hash = (i ^ (seed * 0x9E3779B1u)) * 0x85EBCA6Bu;
    hash = (hash ^ (hash >> 13)) * 0xC2B2AE35u;
    hash ^= hash >> 16;
    values[i] = (static_cast<float>(hash >> 8) / 16777216.0f + shift) * scale;
  }
  return values;
}

std::vector<float> gaussian_5x5() {
  std::vector<float> values;
  double total = 0;
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) total += std::exp(-(x * x + y * y) / 2.0);
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) values.push_back(static_cast<float>(std::exp(-(x * x + y * y) / 2.0) / total));
  return values;
}

}  // namespace compare
