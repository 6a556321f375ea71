// Random graphs of the library's operations, for comparing devices with the CPU.
//
// The same seed gives the same graph on every context. Of each value the graph knows how large its elements can be and
// how far two devices may be apart in them, so that results are compared with what their own operations allow, and so
// that an operation with jumps (a comparison, a rounding, an index) only gets values that are the same bits everywhere.
#pragma once
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "support/host_tensor.h"

namespace tessera::test {

// What can be said of all elements of a value.
struct Range {
  static constexpr int any_bits = 99;
  double bound = 1;              // of their magnitude
  double error = 0;              // how far two devices may be apart; 0: the same bits
  int fraction_bits = any_bits;  // they are multiples of 2^-fraction_bits: sums and products of few bits are exact

  Range scaled(double factor) const { return {bound * factor, error * factor, any_bits}; }
  Range within(double new_bound) const { return {new_bound, error, fraction_bits}; }
};
Range sum_of(const Range&, const Range&);
Range product_of(const Range&, const Range&);
Range sum_over(const Range&, std::int64_t count);
Range either_of(const Range&, const Range&);
// Of a function whose slope is at most `slope` and whose results are at most `bound`.
inline Range function_of(const Range& x, double slope, double bound) { return {bound, slope * x.error}; }

struct Value {
  Tensor tensor;
  Range range;
  bool may_be_used = true;  // false: infinite, not a number, or too far apart for more
  bool is_used = false;     // by another operation

  const Shape& shape() const { return tensor.shape(); }
  DType dtype() const { return tensor.dtype(); }
  int rank() const { return tensor.shape().rank(); }
  std::int64_t size() const { return tensor.shape().size(); }
};

using Types = std::span<const DType>;
inline constexpr DType f32_only[] = {DType::f32};
inline constexpr DType f16_only[] = {DType::f16};
inline constexpr DType i32_only[] = {DType::i32};
inline constexpr DType u8_only[] = {DType::u8};
inline constexpr DType boolean_only[] = {DType::boolean};
inline constexpr DType float_types[] = {DType::f32, DType::f32, DType::f16};  // f32 twice as often
inline constexpr DType integer_types[] = {DType::i32, DType::i8, DType::u8};
inline constexpr DType small_integer_types[] = {DType::i8, DType::u8};
inline constexpr DType number_types[] = {DType::f32, DType::f32, DType::f16, DType::i32, DType::i8, DType::u8};
inline constexpr DType image_types[] = {DType::f32, DType::f16, DType::u8};

constexpr std::int64_t most_elements = 4000;  // of a value

class RandomGraph;

// An operation that graphs are made of, by its name in the public headers.
struct RandomOp {
  std::string name;
  std::function<void(RandomGraph&)> add;
};
const std::vector<RandomOp>& all_random_ops();
std::vector<RandomOp> random_pointwise_ops(), random_moving_ops(), random_family_ops(), random_image_ops();

class RandomGraph {
 public:
  enum class Way { together, in_steps, one_by_one };
  // `given` are the tensors to take as leaves, as a program has them.
  RandomGraph(Context&, std::uint64_t seed, std::span<const RandomOp* const> operations, Way = Way::together,
              std::optional<std::span<const Tensor>> given = {});

  // What no operation of the graph uses: everything else is part of it.
  std::vector<Tensor> results() const;
  std::string text() const { return text_.str(); }
  const std::vector<Value>& values() const { return values_; }

  struct Leaf {
    DType dtype;
    HostTensor host;
  };
  const std::vector<Leaf>& leaves() const { return leaves_; }

  // ---- for operations
  Context& context() { return context_; }
  bool is_of_a_program() const { return given_.has_value(); }
  int pick(int low, int high);  // both included
  bool chance(int percent) { return pick(1, 100) <= percent; }
  double real(double low, double high);  // a number that no grid has
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[pick(0, static_cast<int>(choices.size()) - 1)];
  }
  DType type_of(Types types) { return types[static_cast<std::size_t>(pick(0, static_cast<int>(types.size()) - 1))]; }
  Shape shape(int least_rank, int most_rank);
  int axis_of(const Value& x) { return pick(0, x.rank() - 1); }

  // A value of the graph, or a new leaf. Exact ones are the same bits on all devices.
  Value any(Types, int least_rank = 0, int most_rank = 4);
  Value exact(Types, int least_rank = 0, int most_rank = 4);
  Value any(DType type, int least_rank = 0, int most_rank = 4) { return any(Types(&type, 1), least_rank, most_rank); }
  Value exact(DType type, int least_rank = 0, int most_rank = 4) {
    return exact(Types(&type, 1), least_rank, most_rank);
  }
  // Elements of a value again and again, in this shape.
  Value filled(const Shape&, Types);
  Value filled(const Shape& shape, DType type) { return filled(shape, Types(&type, 1)); }
  Value filled_exactly(const Shape&, Types);
  Value filled_exactly(const Shape& shape, DType type) { return filled_exactly(shape, Types(&type, 1)); }
  // A value that broadcasts with the other one.
  Value beside(const Value&, bool exactly = false);
  Value leaf(DType, const Shape&);

  // Adds a result. The error of one operation is `tolerance` * max(1, bound) unless sums and products of these few bits
  // are exact; f16 rounds once more. Large results are scaled down, so that what is made of them stays small.
  void give(const Tensor&, const Range&, double tolerance = 1e-5);
  void give_moved(const Tensor&, const Range&);                            // the bits of elements there were
  void give_exact(const Tensor& result) { give_moved(result, {1e9, 0}); }  // integers and booleans
  // Integers that are rounded from numbers on which devices need not agree to the last bit, and what must not be used.
  void give_rounded(const Tensor&);
  void give_last(const Tensor&, double error = 0);

 private:
  Value choose(Types, int least_rank, int most_rank, bool exactly);
  Value spread(const Value&, const Shape&);
  void add(Tensor, const Range&, bool may_be_used);

  Context& context_;
  std::mt19937_64 generator_, steps_;
  Way way_;
  std::optional<std::span<const Tensor>> given_;
  std::vector<Value> values_;
  std::vector<Leaf> leaves_;
  std::string operation_, operands_;  // of the one that is being added
  std::ostringstream text_;
};

}  // namespace tessera::test
