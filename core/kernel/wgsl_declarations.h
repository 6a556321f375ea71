// What a WGSL text declares, as far as tessera has to know it before a driver compiles it.
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
bool holds(WgslScalar, DType);  // whether a buffer of such scalars has the elements of such a tensor

struct WgslDeclarations {
  // The scalars that a storage buffer of group 0 is made of, by its binding. One of a struct with several kinds of
  // scalars, and one whose binding is no plain number, are left out.
  std::map<int, WgslScalar> buffers;
  std::set<std::string, std::less<>> overrides;
};
WgslDeclarations declarations_of(std::string_view wgsl);

}  // namespace tessera
