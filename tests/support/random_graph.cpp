#include "support/random_graph.h"

#include <algorithm>
#include <cmath>

namespace tessera::test {
namespace {

// Bits of a number that a type adds and multiplies without rounding.
int exact_bits(DType dtype) { return dtype == DType::f16 ? 10 : 22; }

bool is_exact_sum(const Range& range, DType dtype) {
  const int bits = range.fraction_bits + static_cast<int>(std::ceil(std::log2(std::max(range.bound, 1.0))));
  return range.error == 0 && range.fraction_bits != Range::any_bits && bits <= exact_bits(dtype) &&
         range.fraction_bits <= exact_bits(dtype) + 2;
}

double largest_error_to_go_on_with(DType dtype) { return dtype == DType::f16 ? 0.05 : 0.005; }

int bits_of(const Range& a, const Range& b, int combined) {
  return a.fraction_bits == Range::any_bits || b.fraction_bits == Range::any_bits ? Range::any_bits : combined;
}

}  // namespace

Range sum_of(const Range& a, const Range& b) {
  return {a.bound + b.bound, a.error + b.error, bits_of(a, b, std::max(a.fraction_bits, b.fraction_bits))};
}

Range product_of(const Range& a, const Range& b) {
  return {a.bound * b.bound, a.bound * b.error + b.bound * a.error + a.error * b.error,
          bits_of(a, b, a.fraction_bits + b.fraction_bits)};
}

Range sum_over(const Range& a, std::int64_t count) {
  const auto times = static_cast<double>(std::max<std::int64_t>(count, 1));
  return {a.bound * times, a.error * times, a.fraction_bits};
}

Range either_of(const Range& a, const Range& b) {
  return {std::max(a.bound, b.bound), std::max(a.error, b.error),
          bits_of(a, b, std::max(a.fraction_bits, b.fraction_bits))};
}

const std::vector<RandomOp>& all_random_ops() {
  static const std::vector<RandomOp> all = [] {
    std::vector<RandomOp> ops;
    for (const auto& some : {random_pointwise_ops(), random_moving_ops(), random_family_ops(), random_image_ops()})
      ops.insert(ops.end(), some.begin(), some.end());
    return ops;
  }();
  return all;
}

RandomGraph::RandomGraph(Context& context, std::uint64_t seed, std::span<const RandomOp* const> operations, Way way,
                         std::optional<std::span<const Tensor>> given)
    : context_(context), generator_(seed), steps_(seed), way_(way), given_(given) {
  for (const DType dtype : {DType::f32, type_of(float_types), type_of(integer_types)}) leaf(dtype, shape(0, 4));
  for (const RandomOp* operation : operations) {
    operation_ = operation->name;
    operands_.clear();
    const std::size_t before = values_.size();
    operation->add(*this);
    if (values_.size() == before) text_ << "  (no " << operation_ << " of" << operands_ << ")\n";
  }
}

std::vector<Tensor> RandomGraph::results() const {
  std::vector<Tensor> unused;
  for (const Value& value : values_)
    if (!value.is_used) unused.push_back(value.tensor);
  return unused;
}

int RandomGraph::pick(int low, int high) {  // the standard's distributions differ between libraries
  return low + static_cast<int>(generator_() % static_cast<std::uint64_t>(high - low + 1));
}

double RandomGraph::real(double low, double high) {
  return low + (high - low) * (static_cast<double>(generator_() % 99991) + 0.37) / 99991;
}

Shape RandomGraph::shape(int least_rank, int most_rank) {
  const int rank = chance(10) ? least_rank : pick(std::max(least_rank, std::min(1, most_rank)), most_rank);
  std::vector<std::int64_t> dims;
  std::int64_t room = most_elements / 2;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t wanted = chance(25)  ? 1
                                : chance(2) ? 0
                                : chance(8) ? one_of({16, 17, 33, 64, 65, 130, 257})  // around the sizes of tiles
                                            : pick(2, 9);
    dims.push_back(std::min(wanted, room));
    room /= std::max<std::int64_t>(dims.back(), 1);
  }
  return Shape(dims);
}

Value RandomGraph::leaf(DType dtype, const Shape& shape) {
  const bool is_float = dtype == DType::f32 || dtype == DType::f16;
  const bool is_on_grid = !is_float || chance(70);
  std::mt19937_64 numbers(generator_());
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(numbers() % static_cast<std::uint64_t>(high - low + 1));
  };
  const HostTensor host = made(shape, [&](const Position&) {
    switch (dtype) {
      case DType::i32: return static_cast<float>(between(-40, 40));
      case DType::i8: return static_cast<float>(between(-128, 127));
      case DType::u8: return static_cast<float>(between(0, 255));
      case DType::boolean: return static_cast<float>(between(0, 1));
      default: break;
    }
    return is_on_grid ? static_cast<float>(between(-16, 16)) / 8 : static_cast<float>(between(-99990, 99990)) / 49999.f;
  });
  const std::size_t index = leaves_.size();
  leaves_.push_back({dtype, host});
  const Range range = is_float ? Range{2, 0, is_on_grid ? 3 : Range::any_bits} : Range{dtype == DType::i32 ? 40. : 255};
  const std::string operation = std::exchange(operation_, "leaf"), operands = std::exchange(operands_, "");
  add(given_ ? (*given_)[index] : host.on(context_, dtype), range, true);
  operation_ = operation;
  operands_ = operands + " t" + std::to_string(values_.size() - 1);
  values_.back().is_used = true;
  return values_.back();
}

Value RandomGraph::choose(Types types, int least_rank, int most_rank, bool exactly) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    if (value.may_be_used && std::ranges::find(types, value.dtype()) != types.end() && value.rank() >= least_rank &&
        value.rank() <= most_rank && (!exactly || value.range.error == 0))
      fitting.push_back(i);
  }
  if (fitting.empty() || chance(10)) return leaf(type_of(types), shape(least_rank, std::min(most_rank, 4)));
  // The newer ones more often, so that graphs grow deep.
  const auto last = static_cast<int>(fitting.size()) - 1;
  const std::size_t index = fitting[static_cast<std::size_t>(std::max(pick(0, last), pick(0, last)))];
  values_[index].is_used = true;
  operands_ += " t" + std::to_string(index);
  return values_[index];
}

Value RandomGraph::any(Types types, int least_rank, int most_rank) {
  return choose(types, least_rank, most_rank, false);
}
Value RandomGraph::exact(Types types, int least_rank, int most_rank) {
  return choose(types, least_rank, most_rank, true);
}

Value RandomGraph::spread(const Value& x, const Shape& shape) {
  operands_ += " as " + shape.to_string();
  if (x.size() == 0 || shape.size() == 0) return {context_.full(shape, 1, x.dtype()), {1, 0, 0}};
  Tensor row = flatten(x.tensor);
  if (x.size() < shape.size()) row = tile(row, {(shape.size() + x.size() - 1) / x.size()});
  const std::int64_t begin = pick(0, static_cast<int>(row.shape().size() - shape.size()));
  return {slice(row, {begin}, {shape.size()}).reshape(shape), x.range};
}

Value RandomGraph::filled(const Shape& shape, Types types) { return spread(any(types), shape); }
Value RandomGraph::filled_exactly(const Shape& shape, Types types) { return spread(exact(types), shape); }

Value RandomGraph::beside(const Value& x, bool exactly) {
  const DType dtype = x.dtype();
  const Value other = choose(Types(&dtype, 1), 0, 4, exactly);
  const auto broadcasts = [&] {
    for (int axis = 1; axis <= std::min(x.rank(), other.rank()); ++axis)
      if (x.shape()[-axis] != other.shape()[-axis] && x.shape()[-axis] != 1 && other.shape()[-axis] != 1) return false;
    return true;
  };
  if (broadcasts() && x.size() * other.size() <= most_elements) return other;
  std::vector<std::int64_t> dims(x.shape().dims().begin() + pick(0, x.rank()), x.shape().dims().end());
  for (std::int64_t& dim : dims)
    if (chance(30)) dim = 1;
  return spread(other, Shape(dims));
}

void RandomGraph::add(Tensor tensor, const Range& range, bool may_be_used) {
  if (way_ == Way::one_by_one || (way_ == Way::in_steps && steps_() % 4 == 0)) tensor.compute();
  text_ << "  t" << values_.size() << " " << tensor.shape().to_string() << " " << to_string(tensor.dtype()) << " = "
        << operation_ << operands_;
  if (range.error > 0) text_ << "   +- " << range.error;
  text_ << "\n";
  values_.push_back({std::move(tensor), range, may_be_used});
}

void RandomGraph::give(const Tensor& result, const Range& range, double tolerance) {
  if (result.shape().size() > most_elements) return;
  const DType dtype = result.dtype();
  if (dtype != DType::f32 && dtype != DType::f16) return give_exact(result);
  constexpr double largest_half = 60000;
  if (dtype == DType::f16 && range.bound > largest_half) return;
  Range now = range;
  if (!is_exact_sum(range, dtype)) {
    const double rounding = dtype == DType::f16 ? tolerance + 1.0 / 1024 : tolerance;
    now = {range.bound, range.error + rounding * std::max(1.0, range.bound), Range::any_bits};
  }
  Tensor scaled = result;
  if (range.bound > 8) {
    const int shift = static_cast<int>(std::ceil(std::log2(range.bound / 4)));
    const double factor = std::ldexp(1, -shift);
    scaled = result * static_cast<float>(factor);
    const bool is_exact = now.error == 0 && now.fraction_bits != Range::any_bits && now.fraction_bits + shift <= 24;
    now = {now.bound * factor, is_exact ? 0 : now.error * factor + (dtype == DType::f16 ? 4e-3 : 1e-6),
           is_exact ? now.fraction_bits + shift : Range::any_bits};
    operands_ += " * 2^-" + std::to_string(shift);
  }
  add(scaled, now, now.error <= largest_error_to_go_on_with(dtype));
}

void RandomGraph::give_moved(const Tensor& result, const Range& range) {
  if (result.shape().size() <= most_elements) add(result, range, true);
}

void RandomGraph::give_rounded(const Tensor& result) { give_last(result, 1); }

void RandomGraph::give_last(const Tensor& result, double error) {
  if (result.shape().size() <= most_elements) add(result, {1e9, error}, false);
}

}  // namespace tessera::test
