// Which functions of shader files a kernel gets, and in which order.
#include "core/kernel/shader_text.h"

#include "core/kernel/constant_words.h"

#include <gtest/gtest.h>

namespace tessera::test::shader_text_test {
namespace {

constexpr std::string_view library = R"(// Numbers.

// Twice, unlike unused().
fn twice(a: f32) -> f32 { return added(a, a); }

fn unused(a: f32) -> f32 { return a; }

fn added(a: f32, b: f32) -> f32 { return a + b; }

fn first(pair: Pair) -> f32 { return pair.x; }

struct Pair { x: f32, y: f32 }
fn pair_of(a: f32) -> Pair { return Pair(a, added(a, a)); }
)";

TEST(ShaderText, UsedFunctionsComeAfterWhatTheyUse) {
  EXPECT_EQ(used_functions(library, "  x = twice(1.0);"), R"(// Numbers.

fn added(a: f32, b: f32) -> f32 { return a + b; }

// Twice, unlike unused().
fn twice(a: f32) -> f32 { return added(a, a); }

)");
}

TEST(ShaderText, StructsComeWithTheirFunctions) {
  EXPECT_EQ(used_functions(library, "x = first(p);"), R"(// Numbers.

fn added(a: f32, b: f32) -> f32 { return a + b; }

struct Pair { x: f32, y: f32 }
fn pair_of(a: f32) -> Pair { return Pair(a, added(a, a)); }

fn first(pair: Pair) -> f32 { return pair.x; }

)");
}

TEST(ShaderText, NothingOfALibraryThatIsNotUsed) { EXPECT_EQ(used_functions(library, "twice_as_much(added_up)"), ""); }

TEST(ShaderText, FunctionsInGlslStandInForOthers) {
  constexpr std::string_view in_glsl = R"(// Other ways.

float added(float a, float b) { return sum(vec2(a, b)); }

float sum(vec2 a) { return a.x + a.y; }
float sum(vec3 a) { return a.x + a.y + a.z; }
)";
  EXPECT_EQ(used_functions_in_glsl(library, in_glsl, "x = twice(1.0);"), R"(// Numbers.

float sum(vec2 a) { return a.x + a.y; }
float sum(vec3 a) { return a.x + a.y + a.z; }

float added(float a, float b) { return sum(vec2(a, b)); }

// Twice, unlike unused().
float twice(float a) { return added(a, a); }

)");
  EXPECT_EQ(used_functions_in_glsl(library, "", "unused(y)"), "// Numbers.\n\nfloat unused(float a) { return a; }\n\n");
}

// Word 1 is a parameter, and so are floats that compilers could take for no operand at all.
TEST(ShaderText, ConstantsInThePlaceOfWords) {
  const std::uint32_t minus_two = 0xfffffffeu, half = 0x3f000000u;
  const ConstantWords constants{{7, std::nullopt, minus_two, half, 0, 5, 6, 0x7f800000u}};
  const auto in_glsl = [&](std::string text) { return with_constants(text, constants, ShaderLanguage::glsl); };
  EXPECT_EQ(in_glsl("word_int(0) + word_int(1)"), "int(7u) + word_int(1)");
  EXPECT_EQ(in_glsl("core_int(1u), core_word(4u)"), "int(4294967294u), uint(int(5u))");
  EXPECT_EQ(in_glsl("word_float(3) * floats_of_words(0).w"),
            "uintBitsToFloat(1056964608u) * uintBitsToFloat(1056964608u)");
  EXPECT_EQ(in_glsl("floats_of_words(1).x + word_float(7)"), "floats_of_words(1).x + word_float(7)");
  EXPECT_EQ(in_glsl("ints_of_words(1).yz, ints_of_words(0)"), "ivec2(int(5u), int(6u)), ints_of_words(0)");
  EXPECT_EQ(in_glsl("core_word(i), word_int(12), words[0][0], my_word_int(0)"),
            "core_word(i), word_int(12), words[0][0], my_word_int(0)");
  const ConstantWords sizes{{7, half}, false};
  EXPECT_EQ(with_constants("word(0u) word_float(1u) words[0].x", sizes, ShaderLanguage::wgsl),
            "constant_0() word_float(1u) constant_0()fn constant_0() -> u32 { return 7u; }\n"
            "fn constant_1() -> u32 { return 1056964608u; }\n");
  EXPECT_EQ(with_constants("word(0u)", {}, ShaderLanguage::wgsl), "word(0u)");
  EXPECT_NE(constants.key(), sizes.key());
  EXPECT_EQ(ConstantWords{}.key(), "");
}

}  // namespace
}  // namespace tessera::test::shader_text_test
