// Random graphs of random operations and shapes: fused, and operation by operation, on every device, against the CPU.
#include <cstdlib>
#include <random>
#include <sstream>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test {
namespace {

// The same seed gives the same graph on every context. Operations are continuous, so that rounding stays rounding, and
// values are kept small.
class RandomGraph {
 public:
  RandomGraph(Context& context, std::uint32_t seed, bool one_by_one)
      : context_(context), generator_(seed), one_by_one_(one_by_one) {
    const int leaves = pick(2, 4);
    for (int i = 0; i < leaves; ++i) {
      const Shape shape = random_shape();
      add(context_.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -1, 1,
                                               seed * 31 + static_cast<std::uint32_t>(i))),
          "leaf");
    }
    const int operations = pick(8, 24);
    for (int i = 0; i < operations; ++i) grow();
  }

  // The newest tensors: they need most of the others.
  std::vector<std::vector<float>> results() {
    const std::vector<Tensor> wanted(tensors_.end() - 3, tensors_.end());
    context_.compute(wanted);
    std::vector<std::vector<float>> values;
    for (const Tensor& tensor : wanted) values.push_back(tensor.read());
    return values;
  }
  std::string text() const { return text_.str(); }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator_); }
  std::size_t any_index() { return static_cast<std::size_t>(pick(0, static_cast<int>(tensors_.size()) - 1)); }

  Shape random_shape() {
    std::vector<std::int64_t> dims(static_cast<std::size_t>(pick(0, 4)));
    for (std::int64_t& dim : dims) dim = pick(0, 3) == 0 ? 1 : pick(2, 9);
    return Shape(dims);
  }

  void add(const Tensor& tensor, const std::string& how) {
    tensors_.push_back(one_by_one_ ? tensor.compute() : tensor);
    text_ << "  t" << tensors_.size() - 1 << " " << tensor.shape().to_string() << " = " << how << "\n";
  }

  static bool broadcasts(const Shape& a, const Shape& b) {
    for (int axis = 1; axis <= std::min(a.rank(), b.rank()); ++axis)
      if (a[-axis] != b[-axis] && a[-axis] != 1 && b[-axis] != 1) return false;
    return true;
  }

  void grow() {
    const std::size_t i = any_index(), j = any_index();
    const Tensor &a = tensors_[i], &b = tensors_[j];
    const std::string ta = "t" + std::to_string(i), tb = "t" + std::to_string(j);
    const int rank = a.shape().rank(), axis = rank == 0 ? 0 : pick(0, rank - 1);
    switch (pick(0, 17)) {
      case 0: return add(tanh(a), "tanh " + ta);
      case 1: return add(sigmoid(a * 2.5f) - 0.5f, "sigmoid(2.5 " + ta + ") - 0.5");
      case 2: return add(abs(a) * 0.75f, "0.75 abs " + ta);
      case 3: return add(relu(0.5f - a), "relu(0.5 - " + ta + ")");
      case 4: return add(where(tensors_[0] > 0.25f, tensors_[0] * 0.5f, 0.125f), "where t0 > 0.25");
      case 5: return add(a.cast(DType::f16).cast(DType::f32), "through f16 " + ta);
      case 6:
      case 7:
      case 8: {  // two operands, or one and what is left of the other
        const bool fits = broadcasts(a.shape(), b.shape());
        const Tensor other = fits ? b : mean(b);
        if (std::max(a.shape().size(), other.shape().size()) > 4000) return;
        const int which = pick(0, 3);
        if (which == 0) return add((a + other) * 0.5f, "mean of " + ta + " and " + tb);
        if (which == 1) return add(a * other, ta + " * " + tb);
        if (which == 2) return add(maximum(a, other), "maximum " + ta + " " + tb);
        return add(a - other * 0.5f, ta + " - 0.5 " + tb);
      }
      case 9:
        return rank == 0 ? add(-a, "-" + ta)
                         : add(mean(a, {.axes = {axis}, .keep_dims = pick(0, 1) == 1}),
                               "mean " + ta + " over " + std::to_string(axis));
      case 10:
        return rank == 0
                   ? add(-a, "-" + ta)
                   : add(max(a, {.axes = {axis}, .keep_dims = true}), "max " + ta + " over " + std::to_string(axis));
      case 11:
        return add(sum(a * a) * (1.0f / static_cast<float>(std::max<std::int64_t>(a.shape().size(), 1))),
                   "mean square " + ta);
      case 12: return add(a.reshape({a.shape().size()}), "flat " + ta);
      case 13: return rank < 2 ? add(sin(a), "sin " + ta) : add(transpose(a), "transpose " + ta);
      case 14:
        return rank == 0 ? add(cos(a), "cos " + ta)
                         : add(softmax(a, axis), "softmax " + ta + " over " + std::to_string(axis));
      case 15: {
        if (rank == 0 || a.shape()[axis] < 2) return add(square(a), "square " + ta);
        std::vector<std::int64_t> begin(static_cast<std::size_t>(rank), 0),
            size(a.shape().dims().begin(), a.shape().dims().end());
        begin[static_cast<std::size_t>(axis)] = 1;
        size[static_cast<std::size_t>(axis)] -= 1;
        return add(slice(a, begin, size), "slice " + ta + " from 1 on axis " + std::to_string(axis));
      }
      case 16:
        return rank == 0 || a.shape().size() > 2000
                   ? add(exp(-abs(a)), "exp -abs " + ta)
                   : add(concat(std::vector{a, a * 0.5f}, axis),
                         "concat " + ta + ", 0.5 " + ta + " on axis " + std::to_string(axis));
      default: {
        if (rank != 2) return add(a * 0.9f + 0.05f, "0.9 " + ta + " + 0.05");
        const float shrink = 1.0f / static_cast<float>(a.shape()[1]);
        return add(matmul(a, a, {.transpose_b = true}) * shrink, ta + " times its transpose");
      }
    }
  }

  Context& context_;
  std::mt19937 generator_;
  bool one_by_one_;
  std::vector<Tensor> tensors_;
  std::ostringstream text_;
};

class RandomGraphs : public OnDevice {};

TEST_P(RandomGraphs, AgreeWithTheCpuFusedAndUnfused) {
  // How many: each one compiles kernels of its own, which takes LLVM's drivers far longer than SwiftShader's.
  const char* chosen = std::getenv("TESSERA_RANDOM_GRAPHS");
  const bool compiles_slowly = std::string_view(GetParam().name).find("lavapipe") != std::string_view::npos ||
                               std::string_view(GetParam().name).find("mesa") != std::string_view::npos;
  const std::uint32_t graphs = chosen ? static_cast<std::uint32_t>(std::atoi(chosen)) : compiles_slowly ? 8 : 30;
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  for (std::uint32_t seed = 1; seed <= graphs; ++seed) {
    RandomGraph oracle(cpu, seed, true);
    const auto want = oracle.results();
    for (const bool one_by_one : {false, true}) {
      RandomGraph graph(context(), seed, one_by_one);
      const auto got = graph.results();
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_TRUE(all_agree(got[i], want[i], 2e-3f))
            << "seed " << seed << (one_by_one ? ", one by one" : ", fused") << ", result " << i << " of\n"
            << oracle.text();
    }
  }
}

TESSERA_ON_ALL_DEVICES(RandomGraphs);

}  // namespace
}  // namespace tessera::test
