// WGSL of kernels, spelled as GLSL: each rule by itself, and every file of a family.
#include "core/kernel/glsl_spelling.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel/shader_names.h"

namespace tessera::test::glsl_spelling_test {
namespace {

TEST(GlslSpelling, Types) {
  EXPECT_EQ(glsl_spelling("f32(a) + i32(b) + u32(c) + bool(d)"), "float(a) + int(b) + uint(c) + bool(d)");
  EXPECT_EQ(glsl_spelling("vec2f(a), vec3i(b), vec4u(c)"), "vec2(a), ivec3(b), uvec4(c)");
  EXPECT_EQ(glsl_spelling("vec4<bool>(false)"), "bvec4(false)");
  EXPECT_EQ(glsl_spelling("mat4x4f(a, b, c, d)"), "mat4(a, b, c, d)");
  EXPECT_EQ(glsl_spelling("core_vector(0)"), "core_vector(0)") << "names of ours stay";
  EXPECT_EQ(glsl_spelling("vec4f() + mat4x4f ( )[0] + infinity()"), "vec4(0) + mat4(0)[0] + infinity()");
}

TEST(GlslSpelling, Functions) {
  EXPECT_EQ(glsl_spelling("fn at(a: vec4f, k: u32) -> vec4<bool> { return a; }"),
            "bvec4 at(vec4 a, uint k) { return a; }");
  EXPECT_EQ(glsl_spelling("fn none() -> RowWalk {}"), "RowWalk none() {}");
  EXPECT_EQ(glsl_spelling("fn store(at: u32,\n         value: core_vector) {\n}\n"),
            "void store(uint at,\n         core_vector value) {\n}\n");
}

TEST(GlslSpelling, Variables) {
  EXPECT_EQ(glsl_spelling("let row: vec4u = a;"), "uvec4 row = a;");
  EXPECT_EQ(glsl_spelling("var total: f32 = 0.0;\n  var bits: vec4i;"), "float total = 0.0;\n  ivec4 bits;");
  EXPECT_EQ(glsl_spelling("const option_0: i32 = 3;"), "const int option_0 = 3;");
  EXPECT_EQ(glsl_spelling("for (var i: u32 = 0u; i < 4u; i++) { if (a <= b) { a += i; } else { break; } }"),
            "for (uint i = 0u; i < 4u; i++) { if (a <= b) { a += i; } else { break; } }");
}

TEST(GlslSpelling, Structs) {
  EXPECT_EQ(glsl_spelling("struct Place { row: vec4i, column: u32 }\nfn f()"),
            "struct Place { ivec4 row; uint column; };\nvoid f()");
  EXPECT_EQ(glsl_spelling("struct Place {\n  row: vec4i,  // why\n  column: u32,\n};\n"),
            "struct Place {\n  ivec4 row;  // why\n  uint column;\n};\n");
}

TEST(GlslSpelling, Aliases) {
  EXPECT_EQ(glsl_spelling("alias core_vector = vec4i;\nlet a: core_vector = b;"),
            "#define core_vector ivec4\ncore_vector a = b;");
}

TEST(GlslSpelling, Choices) {
  EXPECT_EQ(glsl_spelling("x + select(no, yes, a == 1)"), "x + (a == 1 ? yes : no)");
  EXPECT_EQ(glsl_spelling("select(at[i, j], f(a, vec4u(b)), c)"), "(c ? f(a, uvec4(b)) : at[i, j])");
  EXPECT_EQ(glsl_spelling("select(select(1, 2, a), 3, select(b, c, d))"), "((d ? c : b) ? 3 : (a ? 2 : 1))");
  EXPECT_EQ(glsl_spelling("select(no,\n       yes,\n       a)"), "(a ? yes : no)");
}

TEST(GlslSpelling, FunctionsOfTheLanguages) {
  EXPECT_EQ(glsl_spelling("round(a) + inverseSqrt(b) + max(c, d)"), "roundEven(a) + inversesqrt(b) + max(c, d)");
  EXPECT_EQ(glsl_spelling("bitcast<vec4i>(a) ^ bits"), "bits_of(a) ^ bits");
  EXPECT_EQ(glsl_spelling("bitcast<vec4f>(a)"), "float_of(a)");
}

TEST(GlslSpelling, Numbers) {
  const std::string same = "0 1u 0x7fffffff 0xffffu 1.5 .5 1.0e9 1.1754944e-38 2.0f a.x-1 0xe-1";
  EXPECT_EQ(glsl_spelling(same), same);
  EXPECT_EQ(glsl_spelling("3i + 0x1fi"), "3 + 0x1f");
}

TEST(GlslSpelling, CommentsAndLinesStay) {
  const std::string text = "// let it be: vec4f\n\n  a = b;  // fn\n/* select(a, b, c)\n*/ c *= -d; // ends";
  EXPECT_EQ(glsl_spelling(text), text);
  EXPECT_EQ(glsl_spelling(""), "");
  EXPECT_EQ(glsl_spelling("/* open"), "/* open");
}

// What has no spelling, and the words by which the error names it.
TEST(GlslSpelling, UnknownConstructs) {
  const std::pair<std::string, std::string> cases[] = {
      {"let a = b;", "\"a\" without a type"},
      {"var<workgroup> found: array<vec4f, 64>;", "without a type"},
      {"var a: array<vec4f, 4>;", "\"array\""},
      {"fn f(a: ptr<function, f32>) {}", "\"ptr\""},
      {"fn f(@builtin(position) a: vec4f) {}", "\"@\""},
      {"@compute fn f() {}", "\"@\""},
      {"fn f(a", "without a type"},
      {"vec4<f32>(a)", "\"vec4\""},
      {"bitcast<i32>(a)", "\"bitcast\" to this type"},
      {"select(a, b)", "\"select\" without three arguments"},
      {"select(a, b, c", "\"select\" without an end"},
      {"if a { b = c; }", "\"if\" without parentheses"},
      {"loop { break; }", "\"loop\""},
      {"switch (a) { default: {} }", "\"switch\""},
      {"_ = f();", "\"_\""},
      {"1.5h", "\"5h\""},
      {"workgroupBarrier();", "\"workgroupBarrier\""},
  };
  for (const auto& [wgsl, words] : cases) {
    try {
      ADD_FAILURE() << wgsl << " became " << glsl_spelling("b = c;\n  " + wgsl + "\nd = e;");
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(words)) << wgsl;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("no spelling in GLSL")) << wgsl;
    }
  }
  try {
    glsl_spelling("a = b;\n  loop { c = d; }\ne = f;");
    ADD_FAILURE();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "The shader has \"loop\" here, which has no spelling in GLSL:   loop { c = d; }");
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> blocks_in(const std::string& text) {
  const std::regex blank_lines("\n\n+");
  return {std::sregex_token_iterator(text.begin(), text.end(), blank_lines, -1), {}};
}

std::set<std::string> matches_in(const std::string& text, const std::string& pattern, int group) {
  const std::regex expression(pattern);
  return {std::sregex_token_iterator(text.begin(), text.end(), expression, group), {}};
}

// All that GLSL and families write alike, among the words that GLSL keeps for itself.
const std::set<std::string> words_of_glsl = {"bool",  "break",  "bvec4",  "const", "continue", "else",  "false",
                                             "float", "for",    "if",     "int",   "ivec2",    "ivec3", "ivec4",
                                             "mat4",  "return", "struct", "true",  "uint",     "uvec4", "vec2",
                                             "vec3",  "vec4",   "void",   "while"};

TEST(GlslSpelling, EveryFamilyFile) {
  // Entry points, how buffers hold texels, and kernels that need workgroups or subgroups: WebGPU's alone.
  const std::set<std::string> of_webgpu = {
      "conv_dot4",        "cooperative",   "dot4",  "from_buffer", "from_texture",
      "in_octets",        "kernel",        "map",   "matmul_dot4", "matmul_split",
      "matmul_tile",      "one_texel",     "octet", "pixels",      "pixels_compute",
      "pixels_draw",      "pixels_gather", "texel", "to_texture",  "to_texture_draw",
      "to_texture_store", "triangle",      "words"};
  const std::filesystem::path source(TESSERA_SOURCE_FOLDER);
  int functions = 0;
  for (const auto& file : std::filesystem::directory_iterator(source / "shaders_wgsl")) {
    const std::string name = file.path().stem().string();
    if (of_webgpu.contains(name)) continue;
    const std::string in_glsl = text_of(source / "shaders_glsl" / (name + ".glsl"));
    const std::set<std::string> replaced = matches_in(in_glsl, "\\n\\w+ (\\w+)\\(", 1);
    for (const std::string& block : blocks_in(text_of(file.path()))) {
      const std::set<std::string> defined = matches_in(block, "fn (\\w+)\\(", 1);
      const bool is_of_workgroups = block.find("var<workgroup>") != std::string::npos;  // unknown to fragment shaders
      std::string spelled;
      try {
        spelled = glsl_spelling(block);
      } catch (const std::logic_error& error) {
        EXPECT_TRUE(is_of_workgroups || (!defined.empty() && replaced.contains(*defined.begin()))) << error.what();
        continue;
      }
      functions += static_cast<int>(defined.size());
      EXPECT_EQ(std::ranges::count(spelled, '\n'), std::ranges::count(block, '\n')) << spelled;
      const std::string code = std::regex_replace(spelled, std::regex("//[^\n]*"), "");
      for (const std::string& word : matches_in(code, "[A-Za-z_]\\w*", 0)) {
        if (words_of_glsl.contains(word)) continue;
        EXPECT_EQ(fault_of_glsl_variable(word), "") << word << " in\n" << spelled;
        EXPECT_FALSE(word == "fn" || word == "let" || word == "var" || word == "vec4f" || word == "u32") << spelled;
      }
    }
  }
  EXPECT_GT(functions, 200);
}

}  // namespace
}  // namespace tessera::test::glsl_spelling_test
