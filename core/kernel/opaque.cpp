#include "core/kernel/opaque.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>

namespace tessera {
namespace {

using Line = Expression::Line;

std::span<const std::uint16_t> operands_of(const Line& line) {
  const int count = line.kind == Expression::Kind::op ? line.op->arity : line.kind == Expression::Kind::cast ? 1 : 0;
  return std::span(line.operands).first(static_cast<std::size_t>(count));
}

bool is_op(const Line& line, std::string_view name) {
  return line.kind == Expression::Kind::op && line.op->name == name;
}

bool has_root(const Line& line) {
  return line.kind == Expression::Kind::op && line.op->float_code.find("sqrt(") != std::string_view::npos;
}

bool has_quotient(const Line& line) {
  return line.kind == Expression::Kind::op && line.op->float_code.find('/') != std::string_view::npos;
}

// The earlier lines that a line is made of, as far as a compiler could see them together: no rule looks through exp.
struct Origin {
  std::vector<std::size_t> shared;  // lines that are used several times, perhaps the line itself, in ascending order
  bool can_cancel = false;          // whether there are quotients or roots
};

bool have_common(const Origin& a, const Origin& b) {
  std::vector<std::size_t> common;
  std::ranges::set_intersection(a.shared, b.shared, std::back_inserter(common));
  return !common.empty();
}

std::vector<Origin> origins_of(const std::vector<Line>& lines) {
  std::vector<int> uses(lines.size(), 0);
  for (const Line& line : lines)
    for (const std::uint16_t operand : operands_of(line)) ++uses[operand];
  std::vector<Origin> origins(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Origin& origin = origins[i];
    origin.can_cancel = has_root(lines[i]) || has_quotient(lines[i]);
    const auto operands = is_op(lines[i], "exp") ? std::span<const std::uint16_t>() : operands_of(lines[i]);
    for (const std::uint16_t operand : operands) {
      std::vector<std::size_t> shared;
      std::ranges::set_union(origin.shared, origins[operand].shared, std::back_inserter(shared));
      origin.shared = std::move(shared);
      origin.can_cancel = origin.can_cancel || origins[operand].can_cancel;
    }
    if (uses[i] > 1) origin.shared.push_back(i);
  }
  return origins;
}

bool is_safe_product(const std::vector<Line>& lines, const std::vector<Origin>& origins, std::size_t index) {
  const Line& line = lines[index];
  if (line.op->name != "mul") return false;
  const bool is_square = line.operands[0] == line.operands[1];
  return is_square ? !has_root(lines[line.operands[0]]) : !origins[index].can_cancel;
}

bool is_leaf(const Line& line) { return line.kind == Expression::Kind::input || line.kind == Expression::Kind::core; }

// A number's product with another line.
bool is_scaled(const std::vector<Line>& lines, const Line& line) {
  return is_op(line, "mul") && (lines[line.operands[0]].kind == Expression::Kind::number) !=
                                   (lines[line.operands[1]].kind == Expression::Kind::number);
}

// For each line, whether it is a leaf, or made of such lines by sums and by products with numbers alone.
std::vector<bool> are_weighted_sums(const std::vector<Line>& lines) {
  std::vector<bool> are(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const auto operand = [&](std::size_t k) {
      return are[line.operands[k]] || lines[line.operands[k]].kind == Expression::Kind::number;
    };
    are[i] = is_leaf(line) || ((is_op(line, "add") || is_scaled(lines, line)) && operand(0) && operand(1));
  }
  return are;
}

// A number's product with a weighted sum, to which a leaf is added.
bool is_safe_sum(const std::vector<Line>& lines, const std::vector<bool>& weighted_sums, const Line& line) {
  if (!is_op(line, "add")) return false;
  for (const std::size_t k : {0u, 1u}) {
    const std::uint16_t product = line.operands[k], leaf = line.operands[1 - k];
    if (is_leaf(lines[leaf]) && is_scaled(lines, lines[product]) && weighted_sums[product]) return true;
  }
  return false;
}

}  // namespace

std::vector<OpaqueValues> opaque_values(const Expression& expression) {
  const std::vector<Line>& lines = expression.lines;
  const std::vector<Origin> origins = origins_of(lines);
  const std::vector<bool> weighted_sums = are_weighted_sums(lines);
  std::vector<OpaqueValues> values(lines.size());
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const Line& line = lines[index];
    if (line.kind != Expression::Kind::op || line.op->takes == Takes::condition ||
        !is_float(lines[line.operands[0]].dtype))
      continue;
    OpaqueValues& opaque = values[index];
    opaque.result = line.op->gives == Gives::boolean && line.op->arity == 2 && !origins[index].shared.empty();
    if (line.op->name == "square") opaque.operands[0] = has_root(lines[line.operands[0]]);
    if (is_safe_product(lines, origins, index) || is_safe_sum(lines, weighted_sums, line)) continue;
    const auto operands = operands_of(line);
    const auto meets = [&](std::size_t i) {
      for (std::size_t j = 0; j < operands.size(); ++j)
        if (j != i && have_common(origins[operands[i]], origins[operands[j]])) return true;
      return false;
    };
    std::size_t last = operands.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!meets(i)) continue;
      last = i;
      opaque.operands[i] = lines[operands[i]].kind == Expression::Kind::op;
    }
    if (last < operands.size() && std::ranges::none_of(opaque.operands, std::identity())) opaque.operands[last] = true;
  }
  return values;
}

}  // namespace tessera
