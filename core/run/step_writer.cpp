#include "core/run/step_writer.h"

#include <algorithm>

#include "core/base/sizes.h"

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

void StepWriter::write(int index, int operand) {
  const GraphItem& item = graph_.at(index);
  int& line_of_item = line_of_item_[static_cast<std::size_t>(index)];
  if (item.is<Constant>()) {
    line_of_item = number(item.number, operand);
  } else if (const auto* strided = item.as<Strided>()) {
    const GraphItem::Operand& source = item.operands[0];
    const KernelInput elements{.dtype = item.dtype(), .access = Access::strided, .operand = operand};
    line_of_item = input(source.item, elements, source.offset + strided->offset, strided->terms, item.shape().size());
  } else {
    Expression::Line line{.kind = Expression::Kind::cast, .dtype = item.dtype()};
    if (const auto* pointwise = item.as<Pointwise>()) {
      line.kind = Expression::Kind::op;
      line.op = pointwise->op;
    }
    for (std::size_t i = 0; i < item.operands.size(); ++i)
      line.operands[i] = line_for(item.operands[i], item.shape(), operand);
    line_of_item = add(operand, line);
  }
}

void StepWriter::write_core(int index, int first_operand) {
  const GraphItem& item = graph_.at(index);
  const Family& family = *item.as<Family>();
  const int values = step_.family ? step_.kernel.core.values + 1 : 1;
  step_.kernel.core = {.file = family.entry->file,
                       .entry = family.entry->name,
                       .dtype = item.dtype(),
                       .options = family.options,
                       .words = static_cast<int>(family.words.size()),
                       .siblings = family.siblings > 1 ? static_cast<int>(item.operands.size()) : 1,
                       .values = values,
                       .is_cooperative = family.entry->is_cooperative,
                       .in_octets = family.entry->in_octets,
                       .parameter_names = &family.entry->parameter_names(),
                       .option_names = &family.entry->option_names()};
  step_.family = family.entry;
  core_words_ = family.words;
  row_ = family.row;
  step_.workgroups = family.workgroups;
  step_.siblings = family.siblings;
  const auto first = static_cast<std::size_t>(first_operand), end = first + item.operands.size();
  if (step_.operand_elements.size() < end) step_.operand_elements.resize(end);
  if (step_.kernel.operands.size() < end) step_.kernel.operands.resize(end);
  for (std::size_t i = first; i < end; ++i) {
    const GraphItem::Operand& operand = item.operands[i - first];
    step_.operand_elements[i] = operand.shape.size();
    line_for(operand, operand.shape, static_cast<int>(i));
  }
  line_of_item_[static_cast<std::size_t>(index)] =
      add(KernelInput::none,
          {.kind = Expression::Kind::core, .dtype = item.dtype(), .index = static_cast<std::uint16_t>(first_operand)});
}

Step StepWriter::finish(int output) {
  step_.output = output;
  step_.words.push_back(word_of(graph_.at(output).shape().size()));
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
std::uint16_t StepWriter::line_for(const GraphItem::Operand& read, const Shape& reader, int operand) {
  if (read.is_number()) return number(read.number, operand);
  if (const int line = line_of_item_[static_cast<std::size_t>(read.item)]; line >= 0)
    return static_cast<std::uint16_t>(line);
  const GraphItem& item = graph_.at(read.item);
  KernelInput elements{.dtype = item.dtype(), .access = Access::strided, .operand = operand};
  if (read.shape.size() == 1) elements.access = Access::scalar;
  else if (read.shape.size() == reader.size() && (read.offset + item.start) % 4 == 0) elements.access = Access::dense;
  const bool has_terms = elements.access == Access::strided;
  return input(read.item, elements, read.offset, has_terms ? broadcast_terms(read.shape, reader) : std::vector<Term>{},
               reader.size());
}

std::uint16_t StepWriter::number(int number, int operand) {
  step_.numbers.push_back(number);
  return add(operand, {.kind = Expression::Kind::number,
                       .dtype = graph_.numbers[static_cast<std::size_t>(number)].dtype,
                       .index = static_cast<std::uint16_t>(step_.numbers.size() - 1)});
}

// Whether four elements from a multiple of four on are a texel of an input with these terms.
bool has_texels(std::int64_t offset, std::span<const Term> terms) {
  const auto is_aligned = [](const Term& term) { return term.block % 4 == 0 && term.stride % 4 == 0; };
  return offset % 4 == 0 && !terms.empty() && terms[0].block == 1 && terms[0].stride == 1 && terms[0].size % 4 == 0 &&
         std::all_of(terms.begin() + 1, terms.end(), is_aligned);
}

// Whether four elements from a multiple of four on have the same element of such an input.
bool has_repeats(std::span<const Term> terms) {
  return std::ranges::all_of(terms, [](const Term& term) { return term.block % 4 == 0; });
}

// Whether they have two different ones at the most in each term, but for a first one of elements.
bool has_long_blocks(std::span<const Term> terms) {
  return std::ranges::all_of(
      terms, [&](const Term& term) { return term.block >= 4 || (term.block == 1 && &term == &terms.front()); });
}

// Reads of the same elements by the same expression are one input.
std::uint16_t StepWriter::input(int item, KernelInput read, std::int64_t offset, std::vector<Term> terms,
                                std::int64_t elements) {
  offset += graph_.at(item).start;
  if (read.operand == KernelInput::none && read.access == Access::strided && has_texels(offset, terms)) {
    const bool is_row = terms == std::vector{Term{1, row_, 1}};
    read.access = is_row ? Access::row : Access::texels;
    if (is_row) terms.clear();
  } else if (read.operand == KernelInput::none && read.access == Access::strided && has_repeats(terms)) {
    read.access = Access::repeated;
  }
  read.terms = static_cast<int>(terms.size());
  read.starts_with_elements = !terms.empty() && terms.front().block == 1;
  read.has_long_blocks = read.operand == KernelInput::none && read.access == Access::strided && has_long_blocks(terms);
  read.ends_with_all = !terms.empty() && terms.back().block * terms.back().size >= elements;
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    const KernelInput& known = step_.kernel.inputs[i];
    if (step_.inputs[i] == item && known.operand == read.operand && known.access == read.access &&
        placements_[i].offset == offset && placements_[i].terms == terms)
      return placements_[i].line;
  }
  const std::uint16_t line = add(read.operand, {.kind = Expression::Kind::input,
                                                .dtype = graph_.at(item).dtype(),
                                                .index = static_cast<std::uint16_t>(step_.inputs.size())});
  step_.inputs.push_back(item);
  step_.kernel.inputs.push_back(read);
  placements_.push_back({offset, std::move(terms), line});
  return line;
}

}  // namespace tessera
