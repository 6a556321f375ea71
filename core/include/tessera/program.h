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
#include <chrono>
#include <functional>
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

// Of images that pass from one kernel of a program to the next, and that nobody else sees. Results, inputs and numbers
// are what they are, whatever the precision.
enum class Precision {
  full,  // as computed
  // 11 bits, up to 65504: half the memory to write and read. Images, textures of a host's among them, are also read
  // between their pixels by the device's own filter, whose weights have about 8 bits: resize_bilinear and colour_lookup
  // are much faster for that. A fourth channel may go along with three from kernel to kernel, and has 11 bits then,
  // too. Enough for what a screen shows. Kernels compute in f32 all the same.
  half,
};

struct RecordOptions {
  Precision between = Precision::full;
};

struct ProgramImpl;
struct ProgramAccess;
struct SlicedRunImpl;

// A run of a program that is spread over frames, so that none of them stutters: a network of 30 ms beside a game.
//
//   tessera::SlicedRun depth = network.start({image});
//   while (the game goes on) {
//     if (depth.advance(2ms)) use(depth.results());   // once a frame; true at last
//     ...
//   }
//
// A slice is as many whole dispatches, one at least, as were measured to fit into the budget on this device: no slice
// takes longer than that by more than one dispatch. In the first run of a program, each kind of dispatch has to be
// measured first, by being the last one of a slice; the device's own timers do that unseen. On a device without any,
// the host waits for such a dispatch the first two times, for as long as it and what was submitted before it takes.
//
// Other work may come in between, several runs may go on at once, and a run may be dropped half way. Where the device
// is lost or replaced between slices, the run starts over on the new one, and so it does where advance throws. A
// SlicedRun is a handle; any thread may use it.
class TESSERA_API SlicedRun {
 public:
  using Budget = std::chrono::duration<double, std::milli>;  // 2ms, 1.5ms, std::chrono::microseconds(300) ...

  // Submits the next slice, and says whether it was the last one. The budget is for the device, and for the host's work
  // to submit the slice: they go on side by side. invalid_argument where it is not positive.
  bool advance(Budget) const;
  double progress() const;              // the part of the dispatches that were submitted: 1 at the end
  std::vector<Tensor> results() const;  // as those of Program::run; invalid_argument before the end

 private:
  friend class Program;
  explicit SlicedRun(std::shared_ptr<SlicedRunImpl> impl) : impl_("SlicedRun", std::move(impl)) {}
  Handle<SlicedRunImpl> impl_;
};

class TESSERA_API Program {
 public:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;
  static Program record(Context&, std::vector<TensorSpec> inputs, const Body&, const RecordOptions& = {});

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

  // The same in slices, when SlicedRun::advance is called. Inputs that are not computed yet are computed here, at once,
  // and those in a host's buffers are copied, since the host may change them before the run ends.
  SlicedRun start(std::span<const Tensor> inputs) const;
  SlicedRun start(std::initializer_list<Tensor> inputs) const {
    return start(std::span(inputs.begin(), inputs.size()));
  }

  // Compiles every kernel in the background, one at a time, so that the first run finds them ready and other work on
  // the context goes on in between. The Pending gives the error, if there was one; it need not be kept. In a host's GL
  // context and in a page there is no background: Context::prepare_some() compiles a part at a time, and get() what is
  // left; in a page, then() does it between the page's events.
  Pending<void> prepare() const;

 private:
  friend struct ProgramAccess;
  explicit Program(std::shared_ptr<ProgramImpl> impl) : impl_("Program", std::move(impl)) {}
  Handle<ProgramImpl> impl_;
};

}  // namespace tessera
