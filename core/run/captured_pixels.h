// A program's run may lay the pixels of tensors that the program captured out for its kernels. Those are the same in
// every run, so the first one keeps them for the others.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

class Pool;

class CapturedPixels {
 public:
  using Buffers = std::vector<std::shared_ptr<Buffer>>;

  // A storage of the plan's own that a step fills from a captured tensor alone.
  struct Image {
    int storage, captured;  // indices of a plan: see Step
    std::shared_ptr<Buffer> pixels{};
    const Buffer* made_of = nullptr;
    std::uint64_t version = 0;  // of the elements that it was made of
  };

  CapturedPixels() = default;
  CapturedPixels(const Graph&, const Plan&);

  // Hands the images that are still right over to a run, which need not make these, and holds none any more: where the
  // run fails, the next makes them again.
  void take(Pool&, Buffers& of_run);
  bool has(int storage) const;
  // The images that a run has used, or has added the making of.
  std::vector<Image> images_in(const Buffers& of_run) const;
  // Once that work was submitted. From then on the pool drops images where it has no room.
  void keep(Pool&, std::span<const Image>);

 private:
  std::vector<Image> images_;
};

}  // namespace tessera
