#include "core/step_writer.h"

#include "core/sizes.h"

namespace tessera {

std::vector<Term> broadcast_terms(const Shape& operand, const Shape& reader) {
  std::vector<Term> terms;
  std::int64_t block = 1, stride = 1;
  for (int axis = 1; axis <= reader.rank(); ++axis) {
    const std::int64_t size = reader[-axis], own = axis <= operand.rank() ? operand[-axis] : 1;
    if (own > 1) {
      const bool continues = !terms.empty() && terms.back().block * terms.back().size == block &&
                             terms.back().stride * terms.back().size == stride;
      if (continues) terms.back().size *= own;
      else terms.push_back({block, size, stride});
    }
    block *= size;
    stride *= own;
  }
  return terms;
}

void StepWriter::write(Node& node, int operand) {
  if (node.is<Family>()) return write_family(node);
  int& line_of_node = line_of_item_[static_cast<std::size_t>(node.plan_index)];
  if (node.is<Constant>()) {
    line_of_node = number(node, operand);
  } else if (const auto* strided = std::get_if<Strided>(&node.operation)) {
    const auto [base, offset] = stored(node.inputs[0].get());
    const KernelInput elements{.dtype = node.dtype, .access = Access::strided, .operand = operand};
    line_of_node =
        is_number(*base) ? number(*base, operand) : input(*base, elements, offset + strided->offset, strided->terms);
  } else {
    Expression::Line line{.kind = Expression::Kind::cast, .dtype = node.dtype};
    if (const auto* pointwise = std::get_if<Pointwise>(&node.operation)) {
      line.kind = Expression::Kind::op;
      line.op = pointwise->op;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      line.operands[i] = line_for(*node.inputs[i], node.shape, operand);
    line_of_node = add(operand, line);
  }
}

void StepWriter::write_family(Node& node) {
  const auto& family = std::get<Family>(node.operation);
  step_.kernel.core = {.file = family.entry->file,
                       .entry = family.entry->name,
                       .dtype = node.dtype,
                       .options = family.options,
                       .words = static_cast<int>(family.words.size()),
                       .is_cooperative = family.entry->is_cooperative,
                       .parameter_names = family.entry->parameter_names ? &family.entry->parameter_names() : nullptr,
                       .option_names = family.entry->option_names ? &family.entry->option_names() : nullptr};
  core_words_ = family.words;
  step_.workgroups = family.workgroups;
  step_.kernel.operands.resize(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    step_.operand_elements.push_back(node.inputs[i]->shape.size());
    line_for(*node.inputs[i], node.inputs[i]->shape, static_cast<int>(i));
  }
  line_of_item_[static_cast<std::size_t>(node.plan_index)] =
      add(KernelInput::none, {.kind = Expression::Kind::core, .dtype = node.dtype});
}

Step StepWriter::finish(Node& output) {
  step_.output = output.plan_index;
  step_.words.push_back(word_of(output.shape.size()));
  step_.words.insert(step_.words.end(), core_words_.begin(), core_words_.end());
  for (const Placement& placement : placements_) {
    step_.words.push_back(word_of(placement.offset));
    for (const Term& term : placement.terms)
      for (const std::int64_t value : {term.block, term.size, term.stride}) step_.words.push_back(word_of(value));
  }
  step_.words.resize(step_.words.size() + step_.numbers.size());
  step_.kernel.numbers = static_cast<int>(step_.numbers.size());
  step_.kernel.make_key();
  return std::move(step_);
}

Expression& StepWriter::expression(int operand) {
  if (operand == KernelInput::none) return step_.kernel.expression;
  const auto index = static_cast<std::size_t>(operand);
  if (step_.kernel.operands.size() <= index) step_.kernel.operands.resize(index + 1);
  return step_.kernel.operands[index];
}

std::uint16_t StepWriter::add(int operand, const Expression::Line& line) {
  std::vector<Expression::Line>& lines = expression(operand).lines;
  lines.push_back(line);
  return static_cast<std::uint16_t>(lines.size() - 1);
}

// The line with the elements of `read`: written before, a number, or an input.
std::uint16_t StepWriter::line_for(Node& read, const Shape& reader, int operand) {
  const auto [base, offset] = stored(&read);
  if (is_number(*base)) return number(*base, operand);
  if (const int line = line_of_item_[static_cast<std::size_t>(base->plan_index)]; line >= 0)
    return static_cast<std::uint16_t>(line);
  KernelInput elements{.dtype = base->dtype, .access = Access::strided, .operand = operand};
  if (read.shape.size() == 1) elements.access = Access::scalar;
  // Dense inputs are read by the texel.
  else if (read.shape.size() == reader.size() && (offset + base->buffer_offset) % 4 == 0)
    elements.access = Access::dense;
  const bool has_terms = elements.access == Access::strided;
  return input(*base, elements, offset, has_terms ? broadcast_terms(read.shape, reader) : std::vector<Term>{});
}

std::uint16_t StepWriter::number(const Node& node, int operand) {
  step_.numbers.push_back(node.constant_index);
  return add(operand, {.kind = Expression::Kind::number,
                       .dtype = node.dtype,
                       .index = static_cast<std::uint16_t>(step_.numbers.size() - 1)});
}

// The same elements of the same storage, read by the same expression, are one input.
std::uint16_t StepWriter::input(Node& stored, KernelInput wanted, std::int64_t offset, std::vector<Term> terms) {
  offset += stored.buffer_offset;
  wanted.terms = static_cast<int>(terms.size());
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    const KernelInput& its = step_.kernel.inputs[i];
    if (step_.inputs[i] == stored.plan_index && its.operand == wanted.operand && its.access == wanted.access &&
        placements_[i].offset == offset && placements_[i].terms == terms)
      return placements_[i].line;
  }
  const std::uint16_t line = add(wanted.operand, {.kind = Expression::Kind::input,
                                                  .dtype = stored.dtype,
                                                  .index = static_cast<std::uint16_t>(step_.inputs.size())});
  step_.inputs.push_back(stored.plan_index);
  step_.kernel.inputs.push_back(wanted);
  placements_.push_back({offset, std::move(terms), line});
  return line;
}

}  // namespace tessera
