// The rows of docs/ops.md that no table of the library holds: operations of kernel families, and those made of others.
// A family's operations are a section of their own; docs/adding_an_op.md tells when to add one.
#pragma once
#include <span>
#include <string_view>

namespace tessera::docs {

struct OpRow {
  std::string_view call;      // as a user writes it, with the shapes: "matmul(a [..., m, k], b [..., k, n])"
  std::string_view takes;     // element types: "f32 f16"
  std::string_view gives;     // shape and type of the result: "[..., m, n], the same type"
  std::string_view accuracy;  // "exact", or a tolerance and where it holds
  std::string_view notes;     // special values, and where they differ between devices
};

struct Section {
  std::string_view title;
  std::string_view header;  // where the operations are declared
  std::string_view text;    // a paragraph above the table
  std::span<const OpRow> rows;
};

inline constexpr std::string_view floats = "f32 f16", numbers = "f32 f16 i32 i8 u8",
                                  every_type = "f32 f16 i32 i8 u8 boolean";
inline constexpr std::string_view reduced = "the axes left, the same type";

inline constexpr OpRow reduce_rows[] = {
    {"sum(x, {axes, keep_dims})", numbers, reduced, "1e-6 where all have one sign, else 2e-5", "over no elements 0"},
    {"mean(x, {axes, keep_dims})", floats, reduced, "as sum", "over no elements NaN"},
    {"prod(x, {axes, keep_dims})", numbers, reduced, "1e-4 over factors near 1", "over no elements 1"},
    {"max(x, {axes, keep_dims})", numbers, reduced, "exact", "NaN wins; over no elements the lowest number"},
    {"min(x, {axes, keep_dims})", numbers, reduced, "exact", "NaN wins; over no elements the highest number"},
    {"any(x, {axes, keep_dims})", "boolean", reduced, "exact", "over no elements false"},
    {"all(x, {axes, keep_dims})", "boolean", reduced, "exact", "over no elements true"},
    {"l1_norm(x, {axes, keep_dims})", floats, reduced, "1e-6", "the sum of magnitudes"},
    {"l2_norm(x, {axes, keep_dims})", floats, reduced, "1e-6", "the root of the sum of squares"},
    {"logsumexp(x, {axes, keep_dims})", floats, reduced, "1e-6", "does not overflow where log(sum(exp(x))) would"},
    {"argmax(x, axis, keep_dims)", numbers, "i32", "exact", "of equal ones the first; NaN counts as the largest"},
    {"argmin(x, axis, keep_dims)", numbers, "i32", "exact", "of equal ones the first; NaN counts as the smallest"},
};

inline constexpr OpRow other_rows[] = {
    {"x.cast(dtype)", every_type, "that type", "exact",
     "float to integer truncates and saturates, NaN becomes 0; integers wrap; boolean is x != 0"},
    {"x.reshape(shape)", every_type, "that shape", "exact", "a view: no data moves"},
    {"leaky_relu(x, slope)", floats, "the same type", "as prelu", "prelu with a number"},
};

inline constexpr Section sections[] = {
    {"Reductions", "tessera/reduce.h",
     "Over any axes; none given means all of them. f16 is summed in f32, i8 and u8 in i32. The same device gives the "
     "same "
     "bits each time.",
     reduce_rows},
    {"Types and shapes", "tessera/tensor.h", "These cost no kernel of their own.", other_rows},
};

}  // namespace tessera::docs
