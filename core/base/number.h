// Numbers that are the same in every element.
#pragma once
#include <cstdint>
#include <string>

#include <tessera/dtype.h>

namespace tessera {

// A number in a node's own type: the bits of a float for floats, of an integer for all else.
struct Number {
  std::uint32_t bits;
};
Number number_of(double value, DType);  // rounds to a float; integer types have the number, see has_number
bool has_number(DType, double value);   // floats have every value
std::string number_text(double value);  // the shortest text that reads back as the value, for messages

}  // namespace tessera
