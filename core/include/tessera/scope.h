// Scope: which tensors are still alive that should not be.
//
//   Tensor features = tessera::tidy(gpu, [&] { return matmul(relu(conv2d(image, w)), projection); });
//
// Tensors are counted handles, so what a function made is let go when it returns, without any help. What can go wrong
// is that a handle survives where nobody thinks of it: in a container, a lambda, a cache. A Scope notes every tensor
// that its thread makes, and tells which of them outlive it. It never takes away what somebody still holds.
#pragma once
#include <concepts>
#include <functional>
#include <vector>

#include <tessera/context.h>

namespace tessera {

struct Survivor {
  Shape shape;
  DType dtype;
  std::string op;     // what makes it
  std::string label;  // Tensor::label()
  int holders;        // Tensors and pending operations that refer to it
};

struct ScopeState;

// Notes the tensors of one context that this thread makes while the scope is open. Scopes may be open at the same time
// and end in any order, each notes for itself: what an inner one kept is a tensor like any other to the outer one.
// Made, used and ended on one thread.
class TESSERA_API Scope {
 public:
  explicit Scope(const Context&);
  ~Scope();  // ends it; survivors are told to on_message as a warning
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const Tensor& keep(const Tensor&);        // meant to live on: no survivor
  std::size_t made() const;                 // how many tensors so far
  std::vector<Survivor> survivors() const;  // those that are alive now and not kept

 private:
  std::shared_ptr<ScopeState> state_;
};

// Runs `body` in a scope and computes the tensors it returns in one submission, so that what led to them needs no
// device memory any more. What else outlives the body is told to on_message.
template <std::invocable Body>
requires std::same_as<std::invoke_result_t<Body>, Tensor> ||
    std::same_as<std::invoke_result_t<Body>, std::vector<Tensor>>
auto tidy(Context& context, Body&& body) {
  Scope scope(context);
  auto result = std::invoke(std::forward<Body>(body));
  const auto* first = [&] {
    if constexpr (std::same_as<decltype(result), Tensor>) return &result;
    else return result.data();
  }();
  const std::span<const Tensor> kept(first, [&]() -> std::size_t {
    if constexpr (std::same_as<decltype(result), Tensor>) return 1;
    else return result.size();
  }());
  context.compute(kept);
  for (const Tensor& tensor : kept) scope.keep(tensor);
  return result;
}

}  // namespace tessera
