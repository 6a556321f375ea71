// The planner behind plan_pixels(): which items pixel kernels compute, where values are read, and where they are
// stored.
//
// Items are placed readers first: a kernel asks for values, and each item is then computed in the kernels that ask for
// it, or stored by one kernel and read by the others.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/pixel_costs.h"
#include "core/run/pixel_plan.h"

namespace tessera {

// An item is read as an image from a storage that has elements in order.
struct PixelElementSource {
  int item;
  std::int64_t offset;
  PixelImage image;
  bool operator==(const PixelElementSource&) const = default;
};

struct PixelDraftOutput {
  PixelResult result;
  PixelOutput output;
  PixelRef value;
};

struct PixelDraft {
  PixelImage domain;  // of which only width and height count
  PixelWriter writer{};
  std::vector<PixelDraftOutput> outputs{};
  const HostTarget* target = nullptr;
  std::size_t shown = 0;
  std::vector<int> items{};  // that are computed in it
  double evaluations = 1;    // of each pixel: several invocations may need the same one for elements of their own

  bool has_extent_of(const PixelImage& image) const {
    return image.width == domain.width && image.height == domain.height;
  }
};

inline PixelLayout pixel_layout_of(const PixelImage& image) {
  return {image.width, image.height, image.channels == 3 ? 4 : static_cast<int>(image.channels)};
}

class PixelPlanner {
 public:
  // `is_split` says of each item whether it is stored in any case, so that kernels are no larger than a device takes.
  // Without `computes`, pixel kernels only sample a host's textures and write into them.
  PixelPlanner(const Graph& graph, const Limits& limits, std::vector<bool>& is_split, bool computes)
      : graph_(graph),
        limits_(limits),
        is_split_(is_split),
        costs_(graph, !limits.pixels.stores_elements),
        facts_(graph.items.size()),
        computes_(computes) {}
  // Nothing, where a kernel is too large: `is_split` has another item then, if there is one to try again with.
  std::optional<PixelPlan> plan();

 private:
  struct Facts {
    bool is_pixels = false;         // pixel kernels compute or sample it
    bool is_wanted = false;         // a caller wants the elements
    bool is_in_order = false;       // … in their order, not only for kernels
    bool has_other_reader = false;  // other kernels read the elements
    bool is_imported = false;       // a kernel reads the host's texture into a tensor, besides
  };
  class Reader;

  int count() const { return static_cast<int>(graph_.items.size()); }
  Facts& facts(int item) { return facts_[static_cast<std::size_t>(item)]; }
  PixelImage image(int item) const { return *pixel_image_of(graph_.at(item).shape()); }
  bool is_split(int item) const { return is_split_[static_cast<std::size_t>(item)]; }
  bool is_pixels(int item) { return facts(item).is_pixels; }
  bool is_linear_item(int item) { return is_pixels(item) && is_linear(graph_, graph_.at(item)); }
  bool fits(const PixelImage& image) const { return std::max(image.width, image.height) <= limits_.pixels.max_side; }
  bool can_be_half(const PixelImage& image) const {
    return std::max(image.width, image.height) <= limits_.pixels.max_half_side;
  }
  // Whether the image can be the slices of a cube.
  bool fits_slices(const PixelImage& image) const {
    return image.width > 1 && image.width <= limits_.pixels.max_slice_side && image.height == image.width * image.width;
  }
  bool can_be_pixels(const GraphItem& item) const {
    const auto own = pixel_image_of(item.shape());
    return computes_ && own && fits(*own) && (has_pixel_form(item) || item.source);
  }

  // ---- which items are pixels (pixel_plan.cpp, pixel_work_on_elements.cpp)
  // Items that hang together are planned as pixels if there is work on images among them, or a host's image.
  void find_pixel_items();
  std::vector<int> groups_of(const std::vector<bool>& can) const;
  // Without any work on images, so are convolutions from four channels to four with few taps, if one of those that hang
  // together is a product of pixels alone, or two are of one image: its pixels are read once, and nothing is stored in
  // between. More taps have kernels over elements, in which neighbours share what they read.
  void find_small_windows(std::vector<bool> can);
  void find_other_readers();
  // Much work on elements, wherever they are, whose result is needed as elements: kernels over elements make four of
  // these at a time, where a pixel of fewer channels leaves components unused, or is made by two of its neighbours.
  void leave_work_on_elements();
  // Three channels that an invocation cannot store as elements, and that only kernels are to read, get a fourth.
  bool stays_in_texels(int item);
  // How often a kernel that makes elements makes each pixel: texels of four elements share those of three channels.
  double evaluations(int item) const;

  // ---- values in kernels (pixel_reading.cpp)
  PixelRef pixel(PixelDraft& kernel, const GraphItem::Operand& operand, const PixelImage& read_as, PixelSpot place);
  // The number by which an image in elements is asked for.
  int source(const GraphItem::Operand& operand, const PixelImage& read_as);
  // The number by which an image is asked for that may lie in texels which the device can filter, whole.
  std::optional<int> filterable(const GraphItem::Operand& operand, const PixelImage& read_as);
  PixelRef elements(PixelDraft& kernel, const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices);
  // Elements that are parameters of the kernel.
  PixelRef few_numbers(PixelDraft& kernel, const GraphItem::Operand& operand,
                       const std::array<std::int64_t, 4>& indices);
  // Values between pixels, from the pixels around them.
  static void read_around(PixelDraft& kernel, int wanted);
  // Values between pixels, as the device filters them.
  static void read_filtered(PixelDraft& kernel, int wanted, int input_item, PixelInput input);
  // Computes the item in the kernel, wherever the kernel asked for it.
  void compute_in(PixelDraft& kernel, int item);
  // Reads pixels in texels, of an item or of a storage of the plan's own, or a host's.
  void read_texels(PixelDraft& kernel, int wanted, int input_item, const PixelInput& input, const PixelImage& read_as,
                   bool can_filter);
  // Reads pixels of an item that has its elements in order, from element `offset` of the storage on.
  void read_elements(PixelDraft& kernel, int wanted, int item, std::int64_t offset, const PixelImage& read_as);

  // ---- channels that go along with others (pixel_carrying.cpp)
  // The fourth component of an item's texels, which nobody else reads.
  struct FreeFourth {
    int item;
    PixelDraft* kernel;  // that stores the item
    std::size_t output;  // of that kernel
    PixelRef three_channels;
    std::vector<const PixelDraft*> readers;  // of the texels
    std::optional<int> carried{};            // whose fourth channel it has
  };
  // Of the kernels that read `wanted`, those read it no more that need only its fourth channel at their own pixel, and
  // can have that with three channels which they read there anyway.
  void carry_fourth(int wanted);
  // The texel of this kernel that has the fourth channel of `wanted`, in which it is put.
  std::optional<PixelRef> carrier_of(const PixelDraft& kernel, int wanted, DType dtype);
  bool carries(FreeFourth& free, int wanted, DType dtype);

  // ---- placing items, readers first (pixel_plan.cpp)
  PixelDraft& new_kernel(const PixelImage& domain);
  void add_shown(std::size_t index);
  void place_item(int item);
  // A texture is sampled by all who need its pixels, and a kernel reads it where somebody needs the elements, unless
  // these come from outside.
  void place_host_source(int item, const HostSource& source);
  std::vector<PixelDraft*> readers_of(int wanted) const;
  // By each invocation.
  static std::size_t pixels_read_by(const PixelDraft& kernel, int wanted);
  double reads_of(int wanted) const;
  // Whether computing an item wherever it is read costs less than storing it.
  bool is_worth_repeating(int item) const;

  // ---- storing items (pixel_storing.cpp)
  void store(int item, const std::vector<PixelDraft*>& readers);
  // Whether a stored item is computed by its readers as well, since that costs no more than to read it.
  bool is_cheap(int item) const { return !is_split(item) && costs_.of(item) <= PixelCosts::reading + 1; }
  // See stays_in_texels.
  void store_in_texels(int item, const std::vector<PixelDraft*>& readers);
  // Whether an item that is needed as elements is made in texels for those who read pixels, and packed from there.
  bool is_worth_texels_too(int item) const;
  void store_in_texels_too(int item, const std::vector<PixelDraft*>& readers);
  int own_storage(DType dtype, const PixelLayout& layout);
  // Nobody reads the fourth component of a texel: what makes it is left out.
  static PixelRef three_channels(PixelDraft& kernel, PixelRef value);
  // A kernel of the same size that can write the item too: the only one that reads it, where it is, or one that reads
  // what it reads, and neither needs the other.
  PixelDraft* companion(int item, const std::vector<PixelDraft*>& readers);
  // Whether an invocation can store the elements of its pixel, which are whole words then.
  bool stores_pixels(DType dtype, int channels) const;
  bool takes_output(const PixelDraft& kernel) const;
  static bool reads_in_place(const PixelDraft& kernel, int item);
  // Whether both are made of the same item, some operations before.
  bool shares_reads(const PixelDraft& kernel, int item) const;
  int item_of(const PixelDraft& kernel, const PixelDraftOutput& output) const;
  bool depends_on(const PixelDraft& kernel, int item) const;
  // How kernels read an image: pixels and values between four of them, or such between the slices of a cube.
  struct Reads {
    bool in_plane = false, across_slices = false;
  };
  static Reads reads_by(const std::vector<PixelDraft*>& kernels, int wanted);
  // Elements in order are read as they are, or become texels first, where that pays.
  void place_source(int index);

  // ---- steps (pixel_plan.cpp)
  // Nothing, where the kernel has too many inputs, words or lines.
  std::optional<Step> step_of(PixelDraft& kernel);
  // Stores an item in the middle of a kernel that is too large: half of the work gets a kernel of its own.
  void split(const PixelDraft& kernel);
  std::string label_of(const PixelDraft& kernel) const;

  const Graph& graph_;
  Limits limits_;
  std::vector<bool>& is_split_;
  PixelCosts costs_;
  std::vector<Facts> facts_;
  bool computes_;
  std::vector<PixelElementSource> sources_;
  std::vector<FreeFourth> free_fourths_;
  std::vector<std::unique_ptr<PixelDraft>> kernels_;
  std::vector<StorageSpec> own_storages_;
  std::uint64_t ops_fused_ = 0;
};

}  // namespace tessera
