// Checks of arguments and nodes of kernel families, for operations beyond pointwise ones.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fail.h"
#include "core/base/sizes.h"
#include "core/graph/node.h"
#include "core/kernel/parameters.h"

namespace tessera {

// The axis counted from the front. Throws invalid_argument where there is none.
int checked_axis(std::string_view op, int axis, int rank);

// checked_axis for several: in ascending order, none twice. No axes: all of them.
std::vector<int> checked_axes(std::string_view op, std::span<const int> axes, int rank);

// Throws dtype_mismatch unless `takes` holds; `expected` names the types that the operation takes.
void check_dtype(std::string_view op, const Tensor&, bool takes, std::string_view expected);

void check_same_context(std::string_view op, const NodeInfo&, const NodeInfo&);

// The places of a row-major tensor's elements along the chosen axes: one term for each run of adjacent axes, innermost
// first, such that element i of just those axes is at the sum of ((i / block) % size) * stride.
std::vector<Term> terms_of_axes(const Shape&, std::span<const int> axes);

// For FamilyEntry::lower: a node with another entry on the same operands.
Held lowered(const Node&, Family);

// An entry with the names of its parameters and options: no kernel of it can be made with those of another one.
template <class Parameters, class Options = NoParameters>
struct KernelEntry : FamilyEntry {
  constexpr KernelEntry(const FamilyEntry& entry) : FamilyEntry(entry) {
    parameter_names = ParameterList::of<Parameters>;
    option_names = ParameterList::of<Options>;
  }
  Family with(const Parameters& parameters, const Options& options = {}) const {
    const std::vector<std::uint32_t> constants = words_of(options);
    return {.entry = this, .options = {constants.begin(), constants.end()}, .words = words_of(parameters)};
  }
};

Tensor family_tensor(const Shape&, DType, Family, std::initializer_list<Tensor> operands);
Tensor family_tensor(const Shape&, DType, Family, std::span<const Tensor> operands);  // of which there is at least one

// Elements of x in another order; makes no kernel, see Strided.
Tensor strided_tensor(const Tensor& x, const Shape&, std::int64_t offset, std::vector<Term>);

// The lowest and the highest number of a type: infinities for floats, 0 and 1 for booleans.
double lowest_number(DType);
double highest_number(DType);

// A number as a tensor of x's context and type.
Tensor number_like(const Tensor& x, const Shape&, double value);

}  // namespace tessera
