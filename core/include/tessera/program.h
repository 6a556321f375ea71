// Program: record once, run every frame without planning, allocating or compiling.
//
//   auto blur = tessera::Program::record(gpu, {{.shape = {1, 720, 1280, 4}}}, [&](std::span<const tessera::Tensor> in)
//   {
//     return std::vector{clip(conv2d(in[0], kernel, {.padding = tessera::Padding::same}), 0, 1)};
//   });
//   auto frame_out = blur.run({frame_in})[0];
//
// The body is called once, by record, with inputs that have shapes and types but no values. Tensors that it uses from
// outside are computed then and stay as they are. A Program is a handle; any thread may run it.
#pragma once
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <tessera/context.h>

namespace tessera {

struct TensorSpec {
  Shape shape;
  DType dtype = DType::f32;
};

struct ProgramImpl;

class TESSERA_API Program {
 public:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;
  static Program record(Context&, std::vector<TensorSpec> inputs, const Body&);

  // A program called like an operation is lazy like one: it runs in the submission that needs a result, with the work
  // that makes its inputs and with the work on its results.
  //
  //   tessera::gles::to_texture(blur({frame})[0], screen);  // one submission
  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const;
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  // Runs at once, in one submission. The results are new tensors.
  std::vector<Tensor> run(std::span<const Tensor> inputs) const;
  std::vector<Tensor> run(std::initializer_list<Tensor> inputs) const {
    return run(std::span(inputs.begin(), inputs.size()));
  }

  // Compiles every kernel in the background, one at a time, so that the first run finds them ready and other work on
  // the context goes on in between. The future gives the error, if there was one; it need not be kept. In a
  // host's GL context there is no background: Context::prepare_some() compiles a part at a time, and the future's get()
  // and wait() what is left, while the context is current; wait_for() tells future_status::deferred.
  std::future<void> prepare() const;

 private:
  explicit Program(std::shared_ptr<ProgramImpl> impl) : impl_("Program", std::move(impl)) {}
  Handle<ProgramImpl> impl_;
};

}  // namespace tessera
