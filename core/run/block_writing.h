// What the texts of kernels in blocks (core/run/block_texts.h) have in common.
#pragma once
#include <cstdint>
#include <string>

#include "core/run/block_texts.h"

namespace tessera {

inline std::string whole_text(std::int64_t value) { return std::to_string(value); }
inline std::string float_text(std::int64_t value) { return std::to_string(value) + ".0"; }

inline std::int64_t whole_quads(std::int64_t count) { return (count + 3) / 4 * 4; }

inline constexpr const char* four_from = " + vec4i(0, 1, 2, 3)";
constexpr char component_name(int index) { return "xyzw"[index]; }

inline std::string total_name(std::int64_t row) { return "total_" + whole_text(row); }

// `line_of_all` and `in_line`: the line of the fragment's block or texel, and its place in that, of so many; `is_one`:
// whether there is one.
void begin_line(BlockText&, const BlockGrid&, std::int64_t in_line);
// The same for a kernel of sums, right after its BlockText was made: see word_of_first_block.
void begin_block(BlockText&, const BlockGrid&, std::int64_t in_line);

// The texels of an input in a grid, by their numbers: floats, which are exact.
class GridReader {
 public:
  GridReader(BlockText&, std::size_t input, const BlockGrid&);

  std::string find(const std::string& name, const std::string& number) const;  // statements
  // The place of the texel so far after the one that find() has found, in the same row.
  std::string texel(const std::string& name, std::int64_t after) const;

 private:
  std::string width_, rows_of_texel_, step_x_, step_y_;
};

// The sums of a block's rows. Those of integers have parts, which are exact floats.
class BlockSums {
 public:
  BlockSums(BlockText& text, int height, std::int64_t exact_terms)
      : text_(text), height_(height), is_exact_(exact_terms > 0) {
    const std::string type = is_exact_ ? "vec4i" : "vec4f";
    for (int row = 0; row < height_; ++row)
      text_.body += "  var " + total_name(row) + ": " + type + " = " + type + "(0);\n";
  }

  std::string name(std::int64_t row) const { return is_exact_ ? "part_" + whole_text(row) : total_name(row); }

  void begin_parts() {
    if (!is_exact_) return;
    for (int row = 0; row < height_; ++row) text_.body += "  var " + name(row) + ": vec4f = vec4f(0.0);\n";
  }
  void end_parts() {
    if (!is_exact_) return;
    for (int row = 0; row < height_; ++row) text_.body += "  " + total_name(row) + " += vec4i(" + name(row) + ");\n";
  }

  // A loop over `count` steps of some terms each; with parts, around as many steps as these can sum.
  void begin_loop(const std::string& index, const std::string& count, std::int64_t steps_of_part) {
    if (steps_of_part == 0) {
      text_.body += "  for (var " + index + ": i32 = 0; " + index + " < " + count + "; " + index + "++) {\n";
      return;
    }
    const std::string steps = whole_text(steps_of_part);
    text_.body += "  for (var first: i32 = 0; first < " + count + "; first += " + steps + ") {\n";
    begin_parts();
    text_.body += "  let end: i32 = min(first + " + steps + ", " + count + ");\n  for (var " + index +
                  ": i32 = first; " + index + " < end; " + index + "++) {\n";
  }
  void end_loop(std::int64_t steps_of_part) {
    text_.body += "  }\n";
    if (steps_of_part == 0) return;
    end_parts();
    text_.body += "  }\n";
  }

 private:
  BlockText& text_;
  int height_;
  bool is_exact_;
};

// The middle of texel `index` as places in the texture go, from 0 to 1.
inline std::string middle_of(const std::string& index, const std::string& step) {
  return "(" + index + " + 0.5) * " + step;
}

// The distance between texels of input `input`, which has so many across.
inline std::string step_across(BlockText& text, std::size_t input, std::int64_t texels) {
  text.texel_steps.push_back({.word = text.words.size(), .input = input});
  return text.number(1.0f / static_cast<float>(texels));
}
inline std::string step_down(BlockText& text, std::size_t input, std::int64_t texels) {
  text.texel_steps.push_back({.word = text.words.size(), .input = input, .is_down = true});
  return text.number(1.0f / static_cast<float>(texels));
}

}  // namespace tessera
