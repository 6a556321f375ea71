// What pixels cost, in vector operations: whether an item is computed wherever it is read, or stored.
#pragma once
#include <utility>
#include <vector>

#include "core/run/pixel_forms.h"

namespace tessera {

class PixelCosts {
 public:
  // Reading a pixel, and storing one, with its share of a pass. What matters is that two filters of three taps are one
  // kernel, and two of five taps are two, as everybody would write them.
  static constexpr double reading = 8, storing = 80;

  // A pixel in elements takes several reads, unless it is a texel; in textures, it looks for one texel or two.
  double reading_elements(const PixelImage&) const;

  PixelCosts(const Graph& graph, bool has_elements_in_textures)
      : graph_(graph), has_elements_in_textures_(has_elements_in_textures), items_(graph.items.size()) {}

  // Items are added in their order, if pixel kernels compute them.
  void add(int item);

  // Drivers compile long kernels in more than linear time: nothing is repeated beyond this, in one kernel.
  static constexpr double most_repeated = 2000;

  double of(int item) const { return at(item).each; }
  double with_reads(int item) const;  // where all that it reads is stored

  // Whether computing an item at `reads` pixels costs less than storing it and reading it there; `known_reads` gives
  // how often another item is read already.
  template <class KnownReads>
  bool is_worth_repeating(int item, double reads, const KnownReads& known_reads) const {
    std::vector<double> known;
    for (const auto& [operand, times] : at(item).reads) known.push_back(known_reads(operand));
    return is_worth_repeating(item, reads, known);
  }

 private:
  class Counter;
  struct Item {
    bool is_known = false;
    double own = 0;                               // without pixels of other items that kernels compute
    std::vector<std::pair<int, double>> reads{};  // those items, and how many pixels of each
    double each = 0, once = 0;                    // with them: for each pixel, and for all that is stored on the way
    double pixels = 0;
  };
  const Item& at(int item) const { return items_[static_cast<std::size_t>(item)]; }
  bool is_worth_repeating(int item, double reads, const std::vector<double>& known) const;
  double read(int item, double times) const;

  const Graph& graph_;
  bool has_elements_in_textures_;
  std::vector<Item> items_;
};

}  // namespace tessera
