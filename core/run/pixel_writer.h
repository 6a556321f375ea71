// Writes the body of a pixel kernel: values of items at places, each once.
//
// A value is first asked for and later defined, when planning has decided whether its item is computed in this kernel
// or read from where it is stored. Only what the outputs need is written in the end.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/kernel/pixel_kernel.h"

namespace tessera {

using PixelRef = int;  // a value, or a number that places are made of

struct PixelSpot {
  PixelRef x, y;
  bool operator==(const PixelSpot&) const = default;
};

// A place between four pixels of an image, or between eight, where the image is the slices of a cube, one below the
// other.
struct PixelsBetween {
  PixelRef left, right, top, bottom;  // integers
  PixelRef across, down;              // how far it is from the left to the right and from the top to the bottom: floats
  PixelRef x, y;                      // the same place, in an image that goes from 0 to 1, or in a cube that does
  struct NextSlice {
    PixelRef top, bottom;  // the rows there
    PixelRef inwards;      // how far it is from the one slice to the other
    PixelRef z;            // the same place, with x and y
    bool operator==(const NextSlice&) const = default;
  };
  std::optional<NextSlice> next_slice{};
  bool operator==(const PixelsBetween&) const = default;
};

struct WeightedPixel {
  PixelRef value;
  float weight;
};

class PixelWriter {
 public:
  PixelWriter();

  PixelSpot here() const { return {0, 1}; }

  // Texts refer to others as "{3}", see text(). Equal texts are one.
  PixelRef integer(const std::string& text) { return add("i32", text, 0.25); }
  PixelRef unsigned_integer(const std::string& text) { return add("u32", text, 0.25); }
  PixelRef number(const std::string& text) { return add("f32", text, 0.25); }
  PixelRef vector(DType, const std::string& text);  // four components, of floats or integers
  PixelRef op(DType, const PointwiseOp&, std::array<PixelRef, 3> operands);
  PixelRef cast(DType, PixelRef);
  // Floats, each times its weight. Terms of equal weights are added first and multiplied once, those of weight 0
  // vanish, and a sum of sums is one where that saves products: the text depends on which weights are alike, not on
  // their values.
  PixelRef sum(const std::vector<WeightedPixel>&);
  PixelRef graph_number(DType, int number);  // of the graph
  PixelRef graph_numbers(DType, const std::array<int, 4>& numbers);
  DType dtype_of(PixelRef ref) const { return nodes_[index(ref)].dtype; }

  static std::string text(PixelRef ref) { return "{" + std::to_string(ref) + "}"; }

  // Parameters, as they are written in texts.
  // Equal numbers of the same role are one word. Others are not: the text must not depend on what sizes happen to be.
  std::string integer_word(std::string_view role, std::int64_t);
  std::string float_word(float);
  std::string weight_word(float);                                          // one for all equal weights of the kernel
  std::string whole_word(std::string_view role, std::int64_t);             // as a float, likewise
  std::string fraction_word(std::string_view role, std::int64_t divisor);  // 1 / divisor, likewise
  std::string four_words(const std::array<float, 4>&);

  // The value of an item at a place.
  PixelRef value(int item, const PixelSpot&, DType);
  PixelRef value_between(int item, const PixelsBetween&, DType);
  std::optional<PixelRef> known_value(int item, const PixelSpot&) const;  // if it was asked for
  // Whether nothing but the fourth component of a value is read, which is none of the results.
  bool is_read_for_fourth(PixelRef value, std::span<const PixelRef> results) const;
  // The values of an item that were asked for and are not defined.
  std::vector<std::pair<PixelRef, PixelSpot>> wanted_of(int item) const;
  std::vector<std::pair<PixelRef, PixelsBetween>> wanted_between(int item) const;
  void define(PixelRef value, PixelRef as) { nodes_[index(value)].same_as = as; }

  // The index of an input, which is added where it is new; `item` is an index of a Step's inputs.
  int input(int item, const PixelInput&);
  const std::vector<int>& input_items() const { return input_items_; }

  double cost() const;  // of all that was written so far, in operations

  struct Finished {
    PixelKernel kernel;
    std::vector<std::uint32_t> words;
    std::vector<int> numbers;
  };
  // The outputs' values are those of `results`. Nothing, where the kernel is longer than drivers compile well.
  std::optional<Finished> finish(std::vector<PixelOutput>, const std::vector<PixelRef>& results, std::int64_t width,
                                 std::int64_t height);

 private:
  enum class Kind : std::uint8_t { text, op, cast, number, sum, wanted };
  struct Node {
    Kind kind;
    std::string_view type;
    std::string text;
    double cost = 0;
    DType dtype = DType::f32;
    const PointwiseOp* op = nullptr;
    std::vector<PixelRef> refs{};  // of an operation
    std::vector<WeightedPixel> terms{};
    int number = 0;
    PixelSpot place{};
    PixelsBetween between{};
    PixelRef same_as = -1;
  };
  static std::size_t index(PixelRef ref) { return static_cast<std::size_t>(ref); }
  PixelRef add(std::string_view type, const std::string& text, double cost, DType = DType::f32);
  PixelRef add(Node);
  std::string token_of(DType, int number);
  PixelRef resolved(PixelRef) const;
  std::vector<PixelRef> refs_of(const Node&) const;
  std::vector<PixelRef> in_order(const std::vector<PixelRef>& results) const;
  std::string with_names(std::string_view text, const std::vector<std::string>& names) const;
  void join_sums(const std::vector<PixelRef>& results);
  PixelRef written_sum(std::vector<WeightedPixel>);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, PixelRef> known_;
  std::map<std::tuple<int, PixelRef, PixelRef>, PixelRef> values_;
  std::map<int, std::vector<PixelRef>> wanted_, between_;  // by item
  std::vector<PixelInput> inputs_;
  std::vector<int> input_items_;
  std::vector<std::uint32_t> words_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> integer_words_;
  std::map<std::pair<std::string, std::int64_t>, std::string> float_words_;
  std::map<std::uint32_t, std::string> weight_words_;  // by their bits
  std::vector<int> numbers_;
};

}  // namespace tessera
