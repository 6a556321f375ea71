// Which functions of shader files a kernel gets, and in which order.
#include "core/kernel/shader_text.h"

#include <gtest/gtest.h>

namespace tessera::test {
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

}  // namespace
}  // namespace tessera::test
