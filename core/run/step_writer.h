// Writes the kernel of one step, item by item.
#pragma once
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

class StepWriter {
 public:
  // line_of_item has the line of each item that this writer has written, and -1 for the others.
  StepWriter(const Graph& graph, std::vector<int>& line_of_item) : graph_(graph), line_of_item_(line_of_item) {}

  // Adds an item to the expression of an operand of the core, or to that of the result (KernelInput::none). The items
  // that it reads within the same expression come first.
  void write(int item, int operand);
  // Adds a core, or one more value of it (KernelCore::values), the first operand of which has this number.
  void write_core(int item, int first_operand);

  Step finish(int output);

 private:
  Expression& expression(int operand);
  std::uint16_t add(int operand, const Expression::Line&);
  std::uint16_t line_for(const GraphItem::Operand& read, const Shape& reader, int operand);
  std::uint16_t number(int number, int operand);
  std::uint16_t input(int item, KernelInput, std::int64_t offset, std::vector<Term>, std::int64_t elements);

  struct Placement {
    std::int64_t offset;
    std::vector<Term> terms;
    std::uint16_t line;
  };
  const Graph& graph_;
  Step step_;
  std::vector<Placement> placements_;  // of each input
  std::vector<std::uint32_t> core_words_;
  std::int64_t row_ = 0;  // see Family
  std::vector<int>& line_of_item_;
};

// Finds an operand's elements where its shape stretches to its reader's; adjacent dimensions become one term.
std::vector<Term> broadcast_terms(const Shape& operand, const Shape& reader);

}  // namespace tessera
