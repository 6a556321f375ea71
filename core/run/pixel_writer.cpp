#include "core/run/pixel_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "core/base/sizes.h"
#include "core/kernel/shader_text.h"

namespace tessera {
namespace {

// Compilers of drivers take more than linear time.
constexpr std::size_t most_lines = 2000;

std::string word_text(std::string_view reader, std::size_t word) {
  return std::string(reader) + "_of_words(" + std::to_string(word / 4) + ")." + "xyzw"[word % 4];
}

// Numbers come after all other words, whose count is known in the end.
std::string number_token(std::string_view reader, std::size_t number) {
  return "#" + std::string(reader) + std::to_string(number) + "#";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// In vector operations, roughly: shaders compute exponentials and the like themselves.
double cost_of(const PointwiseOp& op) {
  const std::string_view code = op.float_code.empty() ? op.int_code : op.float_code;
  if (code.starts_with("power")) return 60;
  if (code.starts_with("fraction_power")) return 40;
  constexpr std::string_view short_functions[] = {"abs",  "ceil",      "floor", "limit", "max",   "min",   "nearest",
                                                  "pick", "rectified", "sign",  "sqrt",  "trunc", "vec4f", "vec4i"};
  if (code.find('(') == std::string_view::npos || code.starts_with('(')) return 1;
  return std::ranges::any_of(short_functions, [&](std::string_view name) { return code.starts_with(name); }) ? 4 : 16;
}

// A weight without its sign.
std::uint32_t factor_of(const WeightedPixel& term) { return std::bit_cast<std::uint32_t>(term.weight) & 0x7fffffff; }
constexpr auto factor_of_one = std::bit_cast<std::uint32_t>(1.0f);

// The different factors of the terms, by their bits, which NaN has too.
std::vector<std::uint32_t> factors_of(const std::vector<WeightedPixel>& terms) {
  std::vector<std::uint32_t> factors;
  for (const WeightedPixel& term : terms)
    if (const std::uint32_t factor = factor_of(term); std::ranges::find(factors, factor) == factors.end())
      factors.push_back(factor);
  return factors;
}

std::ptrdiff_t products_of(const std::vector<WeightedPixel>& terms) {
  return std::ranges::count_if(factors_of(terms), [](std::uint32_t factor) { return factor != factor_of_one; });
}

}  // namespace

PixelWriter::PixelWriter() {
  add("i32", "x", 0);
  add("i32", "y", 0);
  words_.resize(2);
}

PixelRef PixelWriter::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<PixelRef>(nodes_.size() - 1);
}

PixelRef PixelWriter::add(std::string_view type, const std::string& text, double cost, DType dtype) {
  const auto [known, is_new] = known_.try_emplace(std::string(type) + " " + text, static_cast<PixelRef>(nodes_.size()));
  if (is_new) add({.kind = Kind::text, .type = type, .text = text, .cost = cost, .dtype = dtype});
  return known->second;
}

PixelRef PixelWriter::vector(DType dtype, const std::string& text) {
  const auto parts = static_cast<double>(std::ranges::count(text, '{'));
  return add(is_float(dtype) ? "vec4f" : "vec4i", text, 1 + parts / 2, dtype);
}

PixelRef PixelWriter::op(DType dtype, const PointwiseOp& row, std::array<PixelRef, 3> operands) {
  std::vector<PixelRef> refs(operands.begin(), operands.begin() + row.arity);
  return add({.kind = Kind::op,
              .type = is_float(dtype) ? "vec4f" : "vec4i",
              .text = {},
              .cost = cost_of(row),
              .dtype = dtype,
              .op = &row,
              .refs = std::move(refs)});
}

PixelRef PixelWriter::cast(DType dtype, PixelRef ref) {
  return add({.kind = Kind::cast,
              .type = is_float(dtype) ? "vec4f" : "vec4i",
              .text = {},
              .cost = 1,
              .dtype = dtype,
              .refs = {ref}});
}

PixelRef PixelWriter::sum(const std::vector<WeightedPixel>& terms) {
  return add({.kind = Kind::sum,
              .type = "vec4f",
              .text = {},
              .cost = 1 + static_cast<double>(terms.size()) / 2,
              .terms = terms});
}

std::string PixelWriter::token_of(DType dtype, int number) {
  const auto known = std::ranges::find(numbers_, number);
  const auto place = static_cast<std::size_t>(known - numbers_.begin());
  if (known == numbers_.end()) numbers_.push_back(number);
  return number_token(is_float(dtype) ? "floats" : "ints", place);
}

PixelRef PixelWriter::graph_number(DType dtype, int number) {
  const std::string_view type = is_float(dtype) ? "vec4f" : "vec4i";
  const PixelRef ref = add(type, std::string(type) + "(" + token_of(dtype, number) + ")", 0, dtype);
  nodes_[index(ref)].kind = Kind::number;
  return ref;
}

PixelRef PixelWriter::graph_numbers(DType dtype, const std::array<int, 4>& numbers) {
  const std::string_view type = is_float(dtype) ? "vec4f" : "vec4i";
  std::string text(type);
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i ? ", " : "(") + token_of(dtype, numbers[i]);
  return add(type, text + ")", 0, dtype);
}

std::string PixelWriter::integer_word(std::string_view role, std::int64_t value) {
  const auto [known, is_new] = integer_words_.try_emplace(std::pair(std::string(role), value), words_.size());
  if (is_new) words_.push_back(word_of(value));
  return word_text("ints", known->second);
}

std::string PixelWriter::float_word(float value) {
  words_.push_back(std::bit_cast<std::uint32_t>(value));
  return word_text("floats", words_.size() - 1);
}

std::string PixelWriter::weight_word(float value) {
  std::string& word = weight_words_[std::bit_cast<std::uint32_t>(value)];
  if (word.empty()) word = float_word(value);
  return word;
}

std::string PixelWriter::whole_word(std::string_view role, std::int64_t value) {
  std::string& word = float_words_[std::pair(std::string(role), value)];
  if (word.empty()) word = float_word(static_cast<float>(value));
  return word;
}

std::string PixelWriter::fraction_word(std::string_view role, std::int64_t divisor) {
  std::string& word = float_words_[std::pair("1 of " + std::string(role), divisor)];
  if (word.empty()) word = float_word(1.0f / static_cast<float>(divisor));
  return word;
}

std::string PixelWriter::four_words(const std::array<float, 4>& values) {
  words_.resize(round_up(words_.size(), 4));
  for (const float value : values) words_.push_back(std::bit_cast<std::uint32_t>(value));
  return "floats_of_words(" + std::to_string(words_.size() / 4 - 1) + ")";
}

PixelRef PixelWriter::value(int item, const PixelSpot& place, DType dtype) {
  const auto [known, is_new] =
      values_.try_emplace(std::tuple(item, resolved(place.x), resolved(place.y)), static_cast<PixelRef>(nodes_.size()));
  if (is_new) {
    wanted_[item].push_back(add({.kind = Kind::wanted,
                                 .type = is_float(dtype) ? "vec4f" : "vec4i",
                                 .text = {},
                                 .dtype = dtype,
                                 .place = place}));
  }
  return known->second;
}

std::optional<PixelRef> PixelWriter::known_value(int item, const PixelSpot& place) const {
  const auto known = values_.find({item, resolved(place.x), resolved(place.y)});
  return known == values_.end() ? std::nullopt : std::optional(known->second);
}

bool PixelWriter::is_read_for_fourth(PixelRef value, std::span<const PixelRef> results) const {
  const PixelRef read = resolved(value);
  const auto is_value = [&](PixelRef ref) { return resolved(ref) == read; };
  if (std::ranges::any_of(results, is_value)) return false;
  bool is_read = false;
  for (const Node& node : nodes_) {
    const auto has_value = [&](const WeightedPixel& term) { return is_value(term.value); };
    if (std::ranges::any_of(node.refs, is_value) || std::ranges::any_of(node.terms, has_value)) return false;
    for (std::size_t at = 0; (at = node.text.find('{', at)) != std::string::npos; ++at) {
      if (!is_value(std::stoi(node.text.substr(at + 1)))) continue;
      const std::string_view behind = std::string_view(node.text).substr(node.text.find('}', at) + 1);
      if (!behind.starts_with(".w") ||
          behind.substr(0, behind.find_first_not_of("xyzw", 1)).find_first_of("xyz") != behind.npos)
        return false;
      is_read = true;
    }
  }
  return is_read;
}

std::vector<std::pair<PixelRef, PixelSpot>> PixelWriter::wanted_of(int item) const {
  std::vector<std::pair<PixelRef, PixelSpot>> values;
  if (const auto refs = wanted_.find(item); refs != wanted_.end())
    for (const PixelRef ref : refs->second)
      if (nodes_[index(ref)].same_as < 0) values.emplace_back(ref, nodes_[index(ref)].place);
  return values;
}

PixelRef PixelWriter::value_between(int item, const PixelsBetween& between, DType dtype) {
  std::vector<PixelRef>& known = between_[item];
  for (const PixelRef ref : known)
    if (nodes_[index(ref)].between == between) return ref;
  known.push_back(add({.kind = Kind::wanted,
                       .type = is_float(dtype) ? "vec4f" : "vec4i",
                       .text = {},
                       .dtype = dtype,
                       .between = between}));
  return known.back();
}

std::vector<std::pair<PixelRef, PixelsBetween>> PixelWriter::wanted_between(int item) const {
  std::vector<std::pair<PixelRef, PixelsBetween>> values;
  if (const auto refs = between_.find(item); refs != between_.end())
    for (const PixelRef ref : refs->second)
      if (nodes_[index(ref)].same_as < 0) values.emplace_back(ref, nodes_[index(ref)].between);
  return values;
}

int PixelWriter::input(int item, const PixelInput& input) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (input_items_[i] == item && inputs_[i] == input) return static_cast<int>(i);
  inputs_.push_back(input);
  input_items_.push_back(item);
  return static_cast<int>(inputs_.size() - 1);
}

double PixelWriter::cost() const {
  double total = 0;
  for (const Node& node : nodes_) total += node.cost;
  return total;
}

PixelRef PixelWriter::resolved(PixelRef ref) const {
  while (nodes_[index(ref)].same_as >= 0) ref = nodes_[index(ref)].same_as;
  return ref;
}

std::vector<PixelRef> PixelWriter::refs_of(const Node& node) const {
  std::vector<PixelRef> refs;
  for (const PixelRef ref : node.refs) refs.push_back(resolved(ref));
  for (const WeightedPixel& term : node.terms) refs.push_back(resolved(term.value));
  for (std::size_t at = 0; (at = node.text.find('{', at)) != std::string::npos; ++at)
    refs.push_back(resolved(std::stoi(node.text.substr(at + 1))));
  return refs;
}

// What the results need, each after what it needs itself. Without recursion: expressions may be long.
std::vector<PixelRef> PixelWriter::in_order(const std::vector<PixelRef>& results) const {
  std::vector<PixelRef> order;
  std::vector<bool> is_visited(nodes_.size(), false), is_written(nodes_.size(), false);
  std::vector<PixelRef> path;
  for (auto result = results.rbegin(); result != results.rend(); ++result) path.push_back(resolved(*result));
  while (!path.empty()) {
    const PixelRef ref = path.back();
    if (is_visited[index(ref)]) {
      path.pop_back();
      if (!is_written[index(ref)]) order.push_back(ref);
      is_written[index(ref)] = true;
      continue;
    }
    is_visited[index(ref)] = true;
    const std::vector<PixelRef> refs = refs_of(nodes_[index(ref)]);
    for (auto each = refs.rbegin(); each != refs.rend(); ++each)
      if (!is_visited[index(*each)]) path.push_back(*each);
  }
  return order;
}

std::string PixelWriter::with_names(std::string_view text, const std::vector<std::string>& names) const {
  std::string named;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.size(), text.find('{'));
    named += text.substr(0, brace);
    text.remove_prefix(brace);
    if (text.empty()) break;
    const std::size_t end = text.find('}');
    named += names[index(resolved(std::stoi(std::string(text.substr(1, end - 1)))))];
    text.remove_prefix(end + 1);
  }
  return named;
}

// A sum that only another sum reads becomes part of that one, if the weights then have no more different values.
void PixelWriter::join_sums(const std::vector<PixelRef>& results) {
  const std::vector<PixelRef> order = in_order(results);
  std::vector<int> uses(nodes_.size(), 0);
  for (const PixelRef ref : order)
    for (const PixelRef read : refs_of(nodes_[index(ref)])) ++uses[index(read)];
  for (const PixelRef result : results) ++uses[index(resolved(result))];
  for (const PixelRef ref : order) {
    Node& node = nodes_[index(ref)];
    if (node.kind != Kind::sum) continue;
    std::vector<WeightedPixel> joined;
    std::ptrdiff_t products = products_of(node.terms);
    for (const WeightedPixel& term : node.terms) {
      const Node& inner = nodes_[index(resolved(term.value))];
      if (inner.kind != Kind::sum || uses[index(resolved(term.value))] > 1) {
        joined.push_back(term);
        continue;
      }
      products += products_of(inner.terms);
      for (const WeightedPixel& part : inner.terms) joined.push_back({part.value, part.weight * term.weight});
    }
    if (products_of(joined) <= products) node.terms = std::move(joined);
  }
}

// Terms of one factor after the other, each added as soon as there is its value: compilers keep the order, and have no
// registers for all values at once. A group begins with a term that is added, if it has any.
PixelRef PixelWriter::written_sum(std::vector<WeightedPixel> terms) {
  std::stable_partition(terms.begin(), terms.end(),
                        [](const WeightedPixel& term) { return !std::signbit(term.weight); });
  std::optional<PixelRef> sum;
  for (const std::uint32_t factor : factors_of(terms)) {
    std::optional<PixelRef> group;
    bool is_taken = false;
    for (const WeightedPixel& term : terms) {
      if (factor_of(term) != factor) continue;
      const bool is_added = std::signbit(term.weight) == is_taken;
      if (group) group = vector(DType::f32, text(*group) + (is_added ? " + " : " - ") + text(term.value));
      else group = term.value, is_taken = std::signbit(term.weight);
    }
    const std::string product =
        text(*group) + (factor == factor_of_one ? "" : " * " + weight_word(std::bit_cast<float>(factor)));
    if (sum) sum = vector(DType::f32, text(*sum) + (is_taken ? " - " : " + ") + product);
    else if (!is_taken && factor == factor_of_one) sum = group;
    else sum = vector(DType::f32, (is_taken ? "-" : "") + product);
  }
  return sum ? *sum : vector(DType::f32, "vec4f(0.0)");
}

std::optional<PixelWriter::Finished> PixelWriter::finish(std::vector<PixelOutput> outputs,
                                                         const std::vector<PixelRef>& results, std::int64_t width,
                                                         std::int64_t height) {
  join_sums(results);
  for (const PixelRef ref : in_order(results))
    if (nodes_[index(ref)].kind == Kind::sum) define(ref, written_sum(nodes_[index(ref)].terms));
  const std::vector<PixelRef> order = in_order(results);
  std::vector<std::string> names(nodes_.size());
  Expression expression;
  std::vector<std::string> leaves;
  std::vector<int> line_of(nodes_.size(), -1);
  for (const PixelRef ref : order) {
    const Node& node = nodes_[index(ref)];
    if (node.kind == Kind::wanted) throw std::logic_error("A pixel kernel lacks a value.");
    std::string& name = names[index(ref)];
    if (!node.type.starts_with("vec4")) {
      name = ref < 2 ? node.text : "p" + std::to_string(ref);
      continue;
    }
    Expression::Line line{.kind = Expression::Kind::input, .dtype = node.dtype};
    if (node.kind == Kind::op) line.kind = Expression::Kind::op, line.op = node.op;
    else if (node.kind == Kind::cast) line.kind = Expression::Kind::cast;
    else {
      if (node.kind == Kind::number) line.kind = Expression::Kind::number;
      line.index = narrow<std::uint16_t>(leaves.size());
      leaves.push_back(with_names(node.text, names));
    }
    const std::vector<PixelRef> refs = refs_of(node);
    for (std::size_t i = 0; i < node.refs.size(); ++i)
      line.operands[i] = narrow<std::uint16_t>(line_of[index(refs[i])]);
    line_of[index(ref)] = static_cast<int>(expression.lines.size());
    name = "v" + std::to_string(expression.lines.size());
    expression.lines.push_back(line);
    if (expression.lines.size() > most_lines) return std::nullopt;
  }

  const std::vector<std::string> statements =
      statements_of(expression, [&](const Expression::Line& line) { return leaves[line.index]; });
  Finished finished;
  std::string& body = finished.kernel.body;
  for (const PixelRef ref : order) {
    const Node& node = nodes_[index(ref)];
    if (line_of[index(ref)] >= 0) body += statements[index(line_of[index(ref)])];
    else if (ref >= 2)
      body +=
          "  let " + names[index(ref)] + ": " + std::string(node.type) + " = " + with_names(node.text, names) + ";\n";
  }
  words_[0] = word_of(width);
  words_[1] = word_of(height);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const std::size_t word = words_.size() + i;
    for (const std::string_view reader : {"floats", "ints"})
      replace_all(body, number_token(reader, i), word_text(reader, word));
  }
  words_.resize(words_.size() + numbers_.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].value = names[index(resolved(results[i]))];
  finished.kernel.inputs = inputs_;
  finished.kernel.outputs = std::move(outputs);
  finished.kernel.words = static_cast<int>(words_.size());
  finished.words = words_;
  finished.numbers = numbers_;
  return finished;
}

}  // namespace tessera
