// What the kernels of raw.cpp and raw_any_size.cpp are written with.
#pragma once
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "raw_device.h"

namespace compare {

using Numbers = std::vector<std::int64_t>;

inline std::string str(std::int64_t value) { return std::to_string(value); }

struct Value {  // in a text
  Value(const std::string& given) : text(given) {}
  Value(const char* given) : text(given) {}
  Value(std::integral auto number) : text(std::to_string(number)) {}
  Value(float number) : text(32, 0) {
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(number))));
  }
  std::string text;
};

// The text with each $ replaced by the next value.
inline std::string with(const std::string& text, const std::vector<Value>& values) {
  std::string result;
  std::size_t next = 0;
  for (const char c : text) result += c == '$' ? values.at(next++).text : std::string(1, c);
  if (next != values.size()) throw std::logic_error("a value is left over");
  return result;
}

struct Work {
  std::vector<Kernel> kernels;
  WGPUBuffer result;
};

}  // namespace compare
