// Scope: finds tensors that are still alive and should not be.
//
//   Tensor features = tessera::tidy(gpu, [&] { return matmul(relu(conv2d(image, w)), projection); });
//
// Tensors are counted handles, so those that a function made go when it returns, without any help. But a handle may
// survive where nobody thinks of it: in a container, a lambda, a cache. A Scope notes every tensor that its thread
// makes, and tells which of them outlive it. It never takes a tensor from its holder.
#pragma once
#include <concepts>
#include <functional>
#include <vector>

#include <tessera/context.h>

namespace tessera {

struct Survivor {
  Shape shape;
  DType dtype;
  std::string op;     // the operation that makes it
  std::string label;  // Tensor::label()
  int holders;        // Tensors and pending operations that refer to it
};

struct ScopeState;

// Notes the tensors of one context that this thread makes while the scope is open. Scopes may be open at the same time
// and end in any order, each notes for itself: a tensor that an inner one kept is like any other to the outer one. A
// scope is made, used and ended on one thread.
class TESSERA_API Scope {
 public:
  explicit Scope(const Context&);
  ~Scope();  // on_message gets a warning about survivors
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const Tensor& keep(const Tensor&);        // meant to live on: no survivor
  void keep_all();                          // that are alive now
  std::size_t made() const;                 // the number of tensors so far
  std::vector<Survivor> survivors() const;  // tensors that are alive now and not kept

 private:
  std::shared_ptr<ScopeState> state_;
};

// Runs `body` in a scope and computes the tensors it returns in one submission, so that the tensors before them need no
// device memory any more. on_message tells which others outlive the body.
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
