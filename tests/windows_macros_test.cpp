// The public headers after <windows.h>, which makes macros of words. They are defined by hand, so that every system
// tries it; standard headers come first, as they are the compiler's matter.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#endif
#undef min
#undef max
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#ifndef _WIN32
#define near
#define far
#define IN
#define OUT
#define OPTIONAL
#define small char
#define hyper __int64
#define interface struct
#define pascal
#define cdecl
#define ERROR 0
#define NO_ERROR 0
#define TRUE 1
#define FALSE 0
#define DELETE 0x00010000L
#define CONST const
#define VOID void
#define STRICT 1
#define OPAQUE 2
#define TRANSPARENT 1
#define DIFFERENCE 11
#define ABSOLUTE 1
#define RELATIVE 2
#define INFINITE 0xFFFFFFFF
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define CreateWindow CreateWindowA
#define GetMessage GetMessageA
#define SendMessage SendMessageA
#define GetObject GetObjectA
#define LoadImage LoadImageA
#define Yield()
#endif

#include "every_header.h"

namespace tessera::test::windows_macros_test {
namespace {

TEST(WindowsMacros, LeaveTheHeadersAlone) {
  Context context = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor x = context.tensor({3}, {2, 7, 5});
  EXPECT_EQ((tessera::max)(x, {}).read(), std::vector<float>{7});
  EXPECT_EQ((tessera::min)(x, {}).read(), std::vector<float>{2});
  EXPECT_EQ(max(3, 4), 4);  // the program's own macro is there again
}

}  // namespace
}  // namespace tessera::test::windows_macros_test
