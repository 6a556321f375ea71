// Many independent inputs, in chunks as large as the memory there is.
//
//   tessera::for_each_batch(gpu, images,
//                           [&](const Tensor& image) { return classify(image); },
//                           [&](std::size_t i, const Tensor& scores) { best[i] =
//                           argmax(scores).read<std::int32_t>()[0]; },
//                           {.progress = [](std::size_t done, std::size_t of) { std::printf("%zu of %zu\n", done, of);
//                           }});
//
// Each chunk is one submission. The first input is computed alone, to see how much memory one takes, unless you say
// with BatchOptions::max_count how many make a chunk.
#pragma once
#include <functional>
#include <span>

#include <tessera/context.h>

namespace tessera {

struct BatchOptions {
  // Called after each chunk, once the device has done it. An exception stops the rest and is passed on.
  std::function<void(std::size_t done, std::size_t of)> progress{};
  // Device memory that the tensors of a chunk may take together. 0: what the context's budget leaves, or else half of
  // what the device has free where the system tells, or else 256 MB. A single input may take more.
  std::uint64_t max_bytes = 0;
  // How many inputs a chunk may have; 0: any number. With a count and no max_bytes, each chunk has that many from the
  // first on, and is split only where there is no room.
  std::size_t max_count = 0;
};

// `body` builds the result for one input, like any other code with tensors; `take` gets the results in order, each as
// soon as its chunk is computed. Results that `take` does not hold go before the next chunk, and inputs that had to be
// uploaded leave the device again. A chunk for which there is no room after all is split.
TESSERA_API void for_each_batch(Context&, std::span<const Tensor> inputs,
                                const std::function<Tensor(const Tensor& input)>& body,
                                const std::function<void(std::size_t index, const Tensor& result)>& take,
                                const BatchOptions& = {});

}  // namespace tessera
