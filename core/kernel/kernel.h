// Kernels, which backends run: free of graph nodes and of GPU types.
//
// A Kernel is all that a shader's text depends on; sizes, strides, offsets and numbers are parameters, so that other
// sizes and other numbers compile nothing. A kernel works on a texel at a time: four consecutive elements.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/constant_words.h"
#include "core/kernel/kernel_key.h"
#include "core/kernel/pointwise_op.h"
#include <tessera/dtype.h>

namespace tessera {

class ParameterList;

// The elements of an input that belong to an output element i.
enum class Access : std::uint8_t {
  dense,     // element i
  scalar,    // the one element
  strided,   // element offset + sum of ((i / block) % size) * stride over the input's terms
  texels,    // likewise, where each texel of the output has a texel of the input
  row,       // those of the same place in a row, where the core goes along rows of as many elements
  layers,    // those of a texel of a storage with layers, at x + (y << 14) + (layer << 28), for an operand of the core
  repeated,  // as strided, where all elements of a texel of the output have the same one
};

struct KernelInput {
  DType dtype;
  Access access;
  int terms = 0;       // of a strided input: its (block, size, stride) triples, innermost first
  int operand = none;  // the operand of the core that reads it; none: the result does
  // What saves quotients: the first term has a block of 1, the last one goes on to the last element, and of what four
  // elements of a texel have in another term, there are two at the most.
  bool starts_with_elements = false, ends_with_all = false, has_long_blocks = false;
  static constexpr int none = -1;
};

// A term of a strided input as a call of a function of shaders_wgsl/index.wgsl, without its arguments: which takes four
// elements, or the first one of a texel, and then those of the term's words, block, size and stride, from a first one
// on.
struct TermCall {
  std::string_view function;
  int first_word;
  bool takes_first = false;
};
TermCall call_of_term(const KernelInput&, int term);

// A straight-line program over one texel: each line may use the lines before it, the last one is the result.
struct Expression {
  enum class Kind : std::uint8_t {
    input,   // the texel of inputs[index]
    number,  // numbers[index], in all four components
    core,    // the result of the kernel's core; of its operand `index`, where each has a value (KernelCore::values)
    op,      // op(operands)
    cast,    // operands[0] converted to dtype
  };
  struct Line {
    Kind kind;
    DType dtype;  // of the result
    std::uint16_t index = 0;
    std::array<std::uint16_t, 3> operands{};
    const PointwiseOp* op = nullptr;
  };
  std::vector<Line> lines;

  DType result() const { return lines.back().dtype; }
};

// The part of a kernel beyond pointwise work: a function `entry` of the file of its family in shaders_wgsl, which gives
// four elements of the result for four element indices, and reads its operands by element index. The map family has no
// core.
struct KernelCore {
  std::string_view file, entry;       // "reduce", "reduce_fold"; no entry: a map kernel
  DType dtype = DType::f32;           // of the result
  std::vector<std::int32_t> options;  // constants in the shader's text
  int words = 0;                      // of parameters
  int siblings = 1;                   // operands, of which each gives its own part of the result, a whole core each
  int values = 1;                     // operands, of which each gives a value for each element, a whole core each
  bool is_cooperative = false;        // a workgroup makes several texels together; WebGPU only
  bool in_octets = false;  // a cooperative core of which eight invocations, from a multiple of eight on, share values
  // The names of words and options; a map kernel has none.
  const ParameterList* parameter_names = nullptr;
  const ParameterList* option_names = nullptr;
};

// How a result lies that only pixel kernels read, as pixels of four channels (StorageSpec::pixels).
struct ResultLayout {
  // Statements as in PixelKernel::body, which find `at`, whose first component is the first of four elements that the
  // pixel at `x` and `y` has, a multiple of four, and `has_elements`: whether it has any. None: the elements in their
  // order.
  std::string place{};
  int words = 0;  // that they read; the first two are the width and the height
};

struct Kernel {
  KernelKey key;
  std::string label;  // for people: "square > reduce_fold > mul", prologue, core and epilogue
  KernelCore core;
  std::vector<Expression> operands;  // of the core, each evaluated where the core asks for it
  std::vector<KernelInput> inputs;
  int numbers = 0;        // of all expressions
  Expression expression;  // the result, over inputs, numbers and the core
  ResultLayout layout{};  // of the result
  ConstantWords constants{};

  bool has_core() const { return !core.entry.empty(); }
  bool is_laid_out() const { return layout.words > 0; }

  void make_key();  // and the label

  // The parameters of a dispatch are 32-bit words, in this order:
  //   how many elements the output has; those of the core; those of the output's layout; for each input: its offset in
  //   elements, then block, size and stride of each of its terms; the numbers, as the bits of a float or an integer.
  int first_word_of_layout() const { return 1 + core.words; }
  int first_word_of_input(int input) const;
  int first_word_of_numbers() const { return first_word_of_input(static_cast<int>(inputs.size())); }
  int word_count() const { return first_word_of_numbers() + numbers; }
};

}  // namespace tessera
