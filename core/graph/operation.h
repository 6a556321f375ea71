// The kinds of operations, and all that planning has to know of each: a new kind is a struct here, and
// core/run/step_writer.cpp writes it into kernels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/number.h"
#include "core/kernel/custom_call.h"
#include "core/kernel/pointwise_op.h"

namespace tessera {

class Hold;
class HostPass;
struct Node;
class ParameterList;
struct ProgramRun;

// The part that an operation has in kernels.
enum class Part : std::uint8_t {
  none,       // the elements are there, come from outside, or are those of the input
  line,       // a line of an expression, over elements at the same place
  reordered,  // an input of an expression, whose elements are in another order
  core,       // of a kernel
  step,       // a dispatch of its own
};

// A text of work: equal texts mean equal work. Every operation of every graph is written, so that this has to be fast.
class WorkText {
 public:
  void reserve(std::size_t numbers) { numbers_.reserve(numbers); }
  void number(std::int64_t value) { numbers_.push_back(value); }
  void pointer(const void* value) { number(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value))); }
  template <class Range>
  void list(const Range& values) {
    number(static_cast<std::int64_t>(std::size(values)));
    for (const auto value : values) number(static_cast<std::int64_t>(value));
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof(std::int64_t)};
  }

 private:
  std::vector<std::int64_t> numbers_;
};

struct Family;
struct PaddedFamily;
struct FamilyStage;
using FamilyStages = std::vector<FamilyStage>;

// The work of several nodes as one: `count` times the same, each with so many elements of the result. Each has an
// operand of its own, or all are parts of one, so many elements apart.
struct Joining {
  std::int64_t count, elements;
  std::int64_t apart;  // 0: operands of their own
};

// All that variants of a family depend on besides its parameters.
struct FamilyUse {
  std::int64_t elements;  // of the result
  DType dtype;            // likewise
  bool octets;            // whether the device runs entries in octets
  bool workgroups;        // whether it runs cooperative ones
};

// An entry of a kernel family: the static part of an operation that is more than pointwise.
struct FamilyEntry {
  std::string_view name;        // of the function in the shaders, and of the host's function in backend_cpu
  std::string_view file;        // of the family, in shaders_wgsl
  bool reads_once = false;      // each operand's elements are read about once, so that work on them may join the kernel
  bool is_cooperative = false;  // see KernelCore
  bool in_octets = false;       // likewise
  // Gives the same value by other operations: for an entry in octets, for devices without them; for a cooperative one,
  // for devices without workgroups; for another one, for devices that cannot store elements in turn.
  std::shared_ptr<const Hold> (*lower)(const Node&) = nullptr;
  // For an entry of one operand, of whose equal work one kernel can do several times as much: that, or nothing where it
  // cannot.
  std::optional<Family> (*joined)(const Family&, const Joining&) = nullptr;
  // Other families that give the same values of the same operands, but for rounding, on devices with workgroups. Which
  // one is the fastest is measured: see core/run/variants.h.
  std::vector<Family> (*variants)(const Family&, const FamilyUse&) = nullptr;
  // The family that shares the same work out among this many cores, with the same results.
  Family (*for_cores)(const Family&, const FamilyUse&, int cores) = nullptr;
  // The same work on devices with octets, where the lines of the result do not end with a texel: with a few elements
  // more in each, for which there are better kernels. Nothing where there are none. `cores`: as above, or 0.
  std::optional<PaddedFamily> (*padded)(const Family&, const FamilyUse&, int cores) = nullptr;
  // Ways to give the same values by several kernels each, but for rounding: their sums have other terms. Like variants,
  // they are measured; no rule takes one. They are for devices without workgroups, too.
  std::vector<FamilyStages> (*in_stages)(const Family&, const FamilyUse&) = nullptr;
  // The names of words and options; KernelEntry sets it.
  const ParameterList& (*parameter_names)() = nullptr;
  const ParameterList& (*option_names)() = nullptr;
};

// Each kind has a part and a name for people, writes what its work depends on besides inputs, shape and type, and says
// whether making it again costs next to nothing, with as many inputs.
struct OperationKind {
  static constexpr Part part = Part::none;
  void write(WorkText&) const {}
  bool is_cheap(std::size_t /*inputs*/) const { return false; }
};

// Elements on the host, which are uploaded when they are first needed.
struct HostValues : OperationKind {
  explicit HostValues(std::vector<std::byte> values) : elements(std::move(values)) {}
  std::string name() const { return "tensor"; }
  std::vector<Number> few_numbers(DType) const;  // the elements if they are few, of 32 bits; else none

  std::vector<std::byte> elements;
};

// The same number in every element, which readers take as a parameter: the number is no part of the work.
struct Constant : OperationKind {
  explicit Constant(Number number) : value(number) {}
  static constexpr Part part = Part::line;
  std::string name() const { return "full"; }
  bool is_cheap(std::size_t) const { return true; }

  Number value;
};

// Elements of inputs[0] under another shape: as many as the shape has, from element `offset` on.
struct View : OperationKind {
  explicit View(std::int64_t first = 0) : offset(first) {}
  std::string name() const { return "view"; }
  void write(WorkText& text) const { text.number(offset); }
  bool is_cheap(std::size_t) const { return true; }

  std::int64_t offset;
};

struct Pointwise : OperationKind {
  explicit Pointwise(const PointwiseOp& row) : op(&row) {}
  static constexpr Part part = Part::line;
  std::string name() const { return std::string(op->name); }
  void write(WorkText& text) const { text.pointer(op); }
  bool is_cheap(std::size_t) const { return true; }

  const PointwiseOp* op;
};

struct Cast : OperationKind {
  static constexpr Part part = Part::line;
  std::string name() const { return "cast"; }
  bool is_cheap(std::size_t) const { return true; }
};

// Element i is element offset + sum of ((i / block) % size) * stride of inputs[0], of another shape: no data moves
// until something needs the elements side by side.
struct Term {
  std::int64_t block, size, stride;  // a negative stride goes backwards
  bool operator==(const Term&) const = default;
};
struct Strided : OperationKind {
  Strided(std::int64_t first, std::vector<Term> all) : offset(first), terms(std::move(all)) {}
  static constexpr Part part = Part::reordered;
  std::string name() const { return "copy"; }
  void write(WorkText&) const;
  bool is_cheap(std::size_t) const { return true; }

  std::int64_t offset;
  std::vector<Term> terms;
};

// A kernel of a family.
struct Family {
  const FamilyEntry* entry;
  std::vector<std::int32_t> options;  // constants in the shader: other values compile another kernel
  std::vector<std::uint32_t> words;   // parameters: sizes, strides and numbers, the latter by their bits
  std::int64_t workgroups = 0;        // of a cooperative entry
  bool reads_once = false;            // as in the entry, where that depends on sizes
  int siblings = 1;                   // nodes whose results this makes, one after the other
  std::int64_t row = 0;  // the core goes along rows of as many elements, and says where each begins; 0: it does not

  static constexpr Part part = Part::core;
  std::string name() const { return std::string(entry->name); }
  void write(WorkText&) const;
  bool is_cheap(std::size_t inputs) const { return inputs == 0 && workgroups == 0; }
};

// A family that makes lines of `padded` elements, of which the first `line` are wanted.
struct PaddedFamily {
  Family family;
  std::int64_t line, padded;
  bool pays;  // by its sizes alone, a copy of what is wanted included

  std::int64_t elements(std::int64_t wanted) const { return wanted / line * padded; }
};

// One of the kernels of FamilyEntry::in_stages, of which the last one gives the values.
struct FamilyStage {
  Family family;
  std::vector<int> operands;  // by their numbers: those of the whole, and then the results of the stages before
  std::int64_t elements;      // of the result, which is f32 unless it is the last one
};

// Elements of a texture or a buffer that a host lent, read when they are first needed and kept from then on.
struct Import : OperationKind {
  Import(std::shared_ptr<const HostPass> reader, std::uint64_t of_context)
      : pass(std::move(reader)), epoch(of_context) {}
  static constexpr Part part = Part::step;
  std::string name() const { return "import"; }

  std::shared_ptr<const HostPass> pass;
  std::uint64_t epoch;  // of the context, on whose device the host lent it
};

// One output of a kernel of the user's own. All outputs that are still referred to are computed together.
struct Custom : OperationKind {
  Custom(std::shared_ptr<const CustomCall> of_call, std::size_t index) : call(std::move(of_call)), output(index) {}
  static constexpr Part part = Part::step;
  std::string name() const { return call->kernel->name; }
  void write(WorkText& text) const { text.number(static_cast<std::int64_t>(output)); }

  std::shared_ptr<const CustomCall> call;
  std::size_t output;
};

// An input of a program, bound to a tensor with each run.
struct Placeholder : OperationKind {
  std::string name() const { return "input"; }
};

// One output of a run of a program on the inputs.
struct ProgramResult : OperationKind {
  ProgramResult(std::shared_ptr<const ProgramRun> of_run, std::size_t index) : run(std::move(of_run)), output(index) {}
  std::string name() const { return "program"; }

  std::shared_ptr<const ProgramRun> run;
  std::size_t output;
};

// An operation that nobody knows any more: the node has its elements, or they are lost.
struct Computed : OperationKind {
  std::string name() const { return "tensor"; }

  std::vector<Number> few_numbers{};  // the elements, where the host gave few, and nobody else can write them
};

using Operation = std::variant<HostValues, Constant, View, Pointwise, Cast, Strided, Family, Import, Custom,
                               Placeholder, ProgramResult, Computed>;

std::string op_name(const Operation&);
Part part_of(const Operation&);
bool is_cheap(const Operation&, std::size_t inputs);
void write(const Operation&, WorkText&);

// Operations that are all a kernel has to know of them, besides inputs, shape and type; and whether two of these write
// the same text.
bool has_comparable_work(const Operation&);
bool is_same_work(const Operation&, const Operation&);

}  // namespace tessera
