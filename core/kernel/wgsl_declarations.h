// The declarations of a WGSL text that tessera has to know before a driver compiles it.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <tessera/dtype.h>

namespace tessera {

enum class WgslScalar : std::uint8_t { f32, f16, i32, u32 };
std::string_view to_string(WgslScalar);
bool holds(WgslScalar, DType);  // whether a buffer of such scalars can hold such elements

struct WgslDeclarations {
  // The scalars that a storage buffer of group 0 is made of, by its binding. Buffers of structs with several kinds of
  // scalars, and buffers whose binding is no plain number, are left out.
  std::map<int, WgslScalar> buffers;
  std::set<std::string, std::less<>> overrides;
};
WgslDeclarations declarations_of(std::string_view wgsl);

}  // namespace tessera
