// A program's run may lay tensors that the program captured out for its kernels. Those are the same in every run, so
// the first one keeps them for the others, and for other programs that lay the same tensors out alike. Where kernels
// read nothing else of a tensor, it is on the device in this layout alone.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

class Pool;

// Whether an item of a program's graph is a tensor that the program captured.
bool is_captured(const Graph&, int item);

class CapturedPixels {
 public:
  using Buffers = std::vector<std::shared_ptr<Buffer>>;

  // A storage of the plan's own that a step fills from a captured tensor alone.
  struct Image {
    int storage, captured;  // indices of a plan: see Step
    std::size_t step;
    std::string layout;  // equal texts, equal layouts
    std::shared_ptr<Buffer> pixels{};
  };
  // An image as a run has it.
  struct Made {
    std::size_t image;
    std::shared_ptr<Buffer> pixels, original;
    std::uint64_t version;  // of the original's elements
    bool is_new, original_can_leave;
  };

  CapturedPixels() = default;
  CapturedPixels(const Graph&, const Plan&);

  bool is_empty() const { return images_.empty(); }
  // Hands the images that are still right over to a run, which need not make these, and holds none any more: where the
  // run fails, the next makes them again. Recorded work, which runs if and when the host submits it, makes its own.
  void take(Pool&, Buffers& of_run);
  bool has(int storage) const;
  // The steps that make images which the run does not have, of originals that then leave the device.
  std::vector<std::size_t> steps_to_run(const Buffers& of_run) const;
  // The images that a run has used, or has added the making of.
  std::vector<Made> images_in(const Buffers& of_run) const;
  // Once that work was submitted. From then on the pool drops images where it has no room.
  void keep(Pool&, std::span<const Made>);
  // Where that work was not submitted: those that were made before.
  void give_back(Pool&, std::span<const Made>) noexcept;

 private:
  bool original_can_leave(const Image&, const Buffers& of_run) const;

  std::vector<Image> images_;
  std::vector<int> read_in_order_;  // captured items that kernels read as they are
};

}  // namespace tessera
