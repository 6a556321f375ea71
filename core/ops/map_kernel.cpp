// A small language for pointwise work: a parser that builds the same nodes as the operators do.
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "core/kernel/pointwise_table.h"
#include "core/ops/pointwise.h"
#include <tessera/custom.h>

namespace tessera {
namespace {

constexpr int deepest = 200;  // parentheses and signs: the parser calls itself

class MapParser {
 public:
  MapParser(std::string_view text, const std::map<std::string, MapArgument>& arguments)
      : text_(text), arguments_(arguments) {}

  Tensor parse() {
    MapArgument value = comparison();
    if (at_ < text_.size()) fail_here("an operator or the end is expected");
    if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
    throw Error(ErrorCode::compile_failed, "map_kernel: \"" + std::string(text_) + "\" uses no tensor.");
  }

 private:
  // The functions come with looser operators first.
  MapArgument comparison() {
    MapArgument left = sum();
    constexpr std::pair<std::string_view, std::string_view> operators[] = {
        {"<=", "less_equal"}, {">=", "greater_equal"}, {"==", "equal"},
        {"!=", "not_equal"},  {"<", "less"},           {">", "greater"}};
    for (const auto& [symbol, name] : operators)
      if (take(symbol)) return apply(name, {left, sum()});
    return left;
  }
  MapArgument sum() {
    MapArgument left = product();
    for (;;) {
      if (take("+")) left = apply("add", {left, product()});
      else if (take("-")) left = apply("sub", {left, product()});
      else return left;
    }
  }
  MapArgument product() {
    MapArgument left = factor();
    for (;;) {
      if (take("*")) left = apply("mul", {left, factor()});
      else if (take("/")) left = apply("div", {left, factor()});
      else return left;
    }
  }
  MapArgument factor() {
    if (++depth_ > deepest) fail_here("more than " + std::to_string(deepest) + " parentheses or signs are nested");
    MapArgument value = 0.0;
    if (take("-")) {
      value = apply("neg", {factor()});
    } else if (take("(")) {
      value = comparison();
      expect(")");
    } else {
      skip_space();
      const char next = at_ < text_.size() ? text_[at_] : '\0';
      if (std::isdigit(static_cast<unsigned char>(next)) || next == '.') value = number();
      else if (std::isalpha(static_cast<unsigned char>(next)) || next == '_') value = name_or_call();
      else fail_here("a number, a name or a parenthesis is expected");
    }
    --depth_;
    return value;
  }

  MapArgument number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail_here("this is not a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'f') ++at_;
    return value;
  }

  MapArgument name_or_call() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    std::string name(text_.substr(start, at_ - start));
    if (!take("(")) {
      const auto argument = arguments_.find(name);
      if (argument == arguments_.end()) fail_at(start, "no argument is called \"" + name + "\"");
      return argument->second;
    }
    std::vector<MapArgument> values;
    do values.push_back(comparison());
    while (take(","));
    expect(")");
    if (name == "min") name = "minimum";
    if (name == "max") name = "maximum";
    return apply(name, values, start);
  }

  MapArgument apply(std::string_view name, const std::vector<MapArgument>& values, std::size_t where = none) {
    if (where == none) where = at_;
    const std::size_t index = pointwise_row(name);
    if (index == std::size(pointwise_table)) fail_at(where, "there is no function \"" + std::string(name) + "\"");
    const PointwiseOp& op = pointwise_table[index];
    if (values.size() != static_cast<std::size_t>(op.arity))
      fail_at(where, std::string(name) + " takes " + std::to_string(op.arity) + " arguments, but " +
                         std::to_string(values.size()) + " are given");
    bool has_tensor = false;
    std::vector<Operand> operands;
    double numbers[3] = {};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto* tensor = std::get_if<Tensor>(&values[i]);
      has_tensor = has_tensor || tensor;
      if (tensor) operands.emplace_back(tensor);
      else operands.emplace_back(numbers[i] = std::get<double>(values[i]));
    }
    if (has_tensor) return map(op, operands);
    if (const auto exact = arithmetic(name, numbers[0], numbers[1])) return *exact;
    if (!op.on_float) fail_at(where, std::string(name) + " is not for numbers with fractions");
    const auto rounded = [&](int i) { return static_cast<float>(numbers[i]); };
    return double{op.on_float(rounded(0), rounded(1), rounded(2))};
  }

  // Computes in doubles: numbers beside integers keep all their digits.
  static std::optional<double> arithmetic(std::string_view name, double a, double b) {
    if (name == "add") return a + b;
    if (name == "sub") return a - b;
    if (name == "mul") return a * b;
    if (name == "div") return a / b;
    if (name == "neg") return -a;
    return {};
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    skip_space();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail_here("\"" + std::string(symbol) + "\" is expected");
  }
  [[noreturn]] void fail_here(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] void fail_at(std::size_t where, const std::string& what) const {
    throw Error(ErrorCode::compile_failed, "map_kernel: " + what + " at column " + std::to_string(where + 1) +
                                               " of \"" + std::string(text_) + "\".");
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::string_view text_;
  const std::map<std::string, MapArgument>& arguments_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Tensor map_kernel(std::string_view expression, const std::map<std::string, MapArgument>& arguments) {
  return MapParser(expression, arguments).parse();
}

}  // namespace tessera
