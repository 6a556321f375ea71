// Writes the kernel of one step, node by node.
#pragma once
#include <vector>

#include "core/fuse.h"

namespace tessera {

class StepWriter {
 public:
  // line_of_item has an entry for each item of the plan: -1, but for those that this writer has written.
  explicit StepWriter(std::vector<int>& line_of_item) : line_of_item_(line_of_item) {}

  // Adds a node to the expression of an operand of the core, or to that of the result (KernelInput::none). What it
  // reads within the same expression has been added before.
  void write(Node&, int operand);

  Step finish(Node& output);

 private:
  void write_family(Node&);
  Expression& expression(int operand);
  std::uint16_t add(int operand, const Expression::Line&);
  std::uint16_t line_for(Node& read, const Shape& reader, int operand);
  std::uint16_t number(const Node&, int operand);
  std::uint16_t input(Node& stored, KernelInput, std::int64_t offset, std::vector<Term>);

  struct Placement {
    std::int64_t offset;
    std::vector<Term> terms;
    std::uint16_t line;
  };
  Step step_;
  std::vector<Placement> placements_;  // of each input
  std::vector<std::uint32_t> core_words_;
  std::vector<int>& line_of_item_;
};

// Where an operand's elements are as its shape stretches to that of its reader; adjacent dimensions become one.
std::vector<Term> broadcast_terms(const Shape& operand, const Shape& reader);

}  // namespace tessera
