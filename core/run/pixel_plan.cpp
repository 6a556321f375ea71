#include "core/run/pixel_plan.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "core/run/pixel_costs.h"

namespace tessera {
namespace {

// An item is read as an image from a storage that has elements in order.
struct ElementSource {
  int item;
  std::int64_t offset;
  PixelImage image;
  bool operator==(const ElementSource&) const = default;
};

struct DraftOutput {
  PixelResult result;
  PixelOutput output;
  PixelRef value;
};

struct Draft {
  PixelImage domain;  // of which only width and height count
  PixelWriter writer{};
  std::vector<DraftOutput> outputs{};
  const HostTarget* target = nullptr;
  std::size_t shown = 0;
  std::vector<int> items{};  // that are computed in it
  double evaluations = 1;    // of each pixel: several invocations may need the same one for elements of their own

  bool has_extent_of(const PixelImage& image) const {
    return image.width == domain.width && image.height == domain.height;
  }
};

PixelLayout layout_of(const PixelImage& image) {
  return {image.width, image.height, image.channels == 3 ? 4 : static_cast<int>(image.channels)};
}

class PixelPlanner {
 public:
  // Without `computes`, pixel kernels only sample a host's textures and write into them.
  PixelPlanner(const Graph& graph, const Limits& limits, double storing, bool computes)
      : graph_(graph),
        limits_(limits),
        costs_(graph, storing, !limits.pixels.stores_elements),
        facts_(graph.items.size()),
        computes_(computes) {}

  PixelPlan plan() {
    find_pixel_items();
    for (std::size_t i = 0; i < graph_.shown.size(); ++i) add_shown(i);
    for (int i = count() - 1; i >= 0; --i) place_item(i);
    for (std::size_t i = 0; i < sources_.size(); ++i) place_source(static_cast<int>(i));
    PixelPlan plan;
    for (const Facts& facts : facts_) plan.is_taken.push_back(facts.is_pixels || facts.is_imported);
    for (const std::unique_ptr<Draft>& kernel : kernels_) plan.steps.push_back(step_of(*kernel));
    plan.own_storages = own_storages_;
    plan.ops_fused = ops_fused_;
    return plan;
  }

 private:
  struct Facts {
    bool is_pixels = false;         // pixel kernels compute or sample it
    bool is_wanted = false;         // a caller wants the elements
    bool is_in_order = false;       // … in their order, not only for kernels
    bool has_other_reader = false;  // other kernels read the elements
    bool is_imported = false;       // a kernel reads the host's texture into a tensor, besides
  };

  int count() const { return static_cast<int>(graph_.items.size()); }
  Facts& facts(int item) { return facts_[static_cast<std::size_t>(item)]; }
  PixelImage image(int item) const { return *pixel_image_of(graph_.at(item).shape()); }
  bool is_pixels(int item) { return facts(item).is_pixels; }
  bool is_linear_item(int item) { return is_pixels(item) && is_linear(graph_, graph_.at(item)); }

  bool fits(const PixelImage& image) const { return std::max(image.width, image.height) <= limits_.pixels.max_side; }
  bool can_be_half(const PixelImage& image) const {
    return std::max(image.width, image.height) <= limits_.pixels.max_half_side;
  }
  bool can_be_pixels(const GraphItem& item) const {
    const auto own = pixel_image_of(item.shape());
    return computes_ && own && fits(*own) && (has_pixel_form(item) || item.source);
  }

  // Items that hang together are planned as pixels if there is work on images among them, or a host's image.
  void find_pixel_items() {
    std::vector<int> group(graph_.items.size());
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&](int item) {
      while (group[static_cast<std::size_t>(item)] != item) item = group[static_cast<std::size_t>(item)];
      return item;
    };
    std::vector<bool> can(graph_.items.size()), is_worth(graph_.items.size());
    for (int i = 0; i < count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      can[at] = can_be_pixels(graph_.at(i));
      if (!can[at]) continue;
      is_worth[at] = is_image_work(graph_.at(i)) || graph_.at(i).source;
      for (const GraphItem::Operand& operand : graph_.at(i).operands) {
        if (operand.is_number() || !can[static_cast<std::size_t>(operand.item)]) continue;
        const int other = root(operand.item), own = root(i);
        is_worth[static_cast<std::size_t>(own)] =
            is_worth[static_cast<std::size_t>(own)] || is_worth[static_cast<std::size_t>(other)];
        group[static_cast<std::size_t>(other)] = own;
      }
    }
    for (const Graph::Shown& shown : graph_.shown)
      is_worth[static_cast<std::size_t>(root(graph_.wanted[shown.wanted].item))] = true;
    for (int i = 0; i < count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      facts_[at].is_pixels = can[at] && is_worth[static_cast<std::size_t>(root(i))];
    }
    for (std::size_t i = 0; i < graph_.wanted.size(); ++i)
      if (const auto& [item, offset, is_for_kernels] = graph_.wanted[i]; item >= 0 && !graph_.is_shown(i)) {
        facts(item).is_wanted = true;
        facts(item).is_in_order = facts(item).is_in_order || !is_for_kernels;
      }
    for (const int item : graph_.kept)
      if (!graph_.at(item).source) facts(item).is_wanted = facts(item).is_in_order = true;
    find_other_readers();
    leave_work_on_elements();
    find_other_readers();
    for (int i = 0; i < count(); ++i)
      if (is_pixels(i)) costs_.add(i);
    // No kernel can sample the texture that it writes.
    for (int i = 0; i < count(); ++i)
      if (const HostSource* source = graph_.at(i).source;
          source && (graph_.at(i).is_overwritten || source->is_sampled_alone() || !is_pixels(i)))
        facts(i) = {.has_other_reader = true};
  }

  void find_other_readers() {
    for (int i = 0; i < count(); ++i) {
      if (is_pixels(i) || graph_.at(i).is_stored) continue;
      for (const GraphItem::Operand& operand : graph_.at(i).operands)
        if (!operand.is_number()) facts(operand.item).has_other_reader = true;
    }
  }

  // Much work on elements, wherever they are, whose result is needed as elements: kernels over elements make four of
  // these at a time, where a pixel of fewer channels leaves components unused, or is made by two of its neighbours.
  void leave_work_on_elements() {
    PixelCosts costs(graph_, costs_.storing(), !limits_.pixels.stores_elements);
    std::vector<bool> is_plain(graph_.items.size()), is_left(graph_.items.size());
    for (int i = 0; i < count(); ++i) {
      const GraphItem& item = graph_.at(i);
      if (!is_pixels(i)) continue;
      costs.add(i);
      is_plain[static_cast<std::size_t>(i)] =
          (item.is<Pointwise>() || item.is<Cast>() || item.is<Strided>()) &&
          std::ranges::all_of(item.operands, [&](const GraphItem::Operand& operand) {
            return operand.is_number() || !is_pixels(operand.item) || is_plain[static_cast<std::size_t>(operand.item)];
          });
    }
    for (int i = count() - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      if (!is_plain[at]) continue;
      const Facts& own = facts(i);
      const double unused = costs.of(i) * (evaluations(i) * 4 / static_cast<double>(image(i).channels) - 1);
      is_left[at] = is_left[at] || ((own.is_wanted || own.has_other_reader) && !stays_in_texels(i) &&
                                    unused > costs.storing() + costs.reading_elements(image(i)));
      if (!is_left[at]) continue;
      facts(i).is_pixels = false;
      for (const GraphItem::Operand& operand : graph_.at(i).operands)
        if (!operand.is_number()) is_left[static_cast<std::size_t>(operand.item)] = true;
    }
  }

  // Three channels that an invocation cannot store as elements, and that only kernels are to read, get a fourth.
  bool stays_in_texels(int item) {
    const PixelImage pixels = image(item);
    const DType dtype = graph_.at(item).dtype();
    const Facts& own = facts(item);
    return own.is_wanted && !own.is_in_order && !own.has_other_reader && pixels.channels == 3 && pixels.pixels() > 1 &&
           is_float(dtype) && graph_.at(item).layout == 0 && !stores_pixels(dtype, 3) &&
           (dtype == DType::f32 || can_be_half(pixels));
  }

  // How often a kernel that makes elements makes each pixel: texels of four elements share those of three channels.
  double evaluations(int item) const {
    const PixelImage pixels = image(item);
    return pixels.channels == 3 && !stores_pixels(graph_.at(item).dtype(), 3) ? 1.5 : 1;
  }

  // ---- values in kernels

  // Items are asked for by their index, sources by theirs after those.
  class Reader final : public PixelReader {
   public:
    Reader(PixelPlanner& planner, Draft& kernel) : planner_(planner), kernel_(kernel) {}
    PixelWriter& writer() override { return kernel_.writer; }
    PixelRef pixel(const GraphItem::Operand& operand, const PixelImage& image, const PixelSpot& place) override {
      return planner_.pixel(kernel_, operand, image, place);
    }
    PixelRef between(const GraphItem::Operand& operand, const PixelImage& image, const PixelsBetween& place) override {
      const bool can_wait = planner_.graph_.is_half || planner_.is_linear_item(operand.item);
      const auto wanted = can_wait ? planner_.filterable(operand, image) : std::nullopt;
      if (!wanted) return PixelReader::between(operand, image, place);
      return kernel_.writer.value_between(*wanted, place, planner_.graph_.at(operand.item).dtype());
    }
    PixelRef elements(const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) override {
      return planner_.elements(kernel_, operand, indices);
    }

   private:
    PixelPlanner& planner_;
    Draft& kernel_;
  };

  PixelRef pixel(Draft& kernel, const GraphItem::Operand& operand, const PixelImage& read_as, PixelSpot place) {
    const GraphItem& item = graph_.at(operand.item);
    if (is_pixels(operand.item)) {
      const PixelImage own = image(operand.item);
      if (own.width == read_as.width && own.channels == read_as.channels && operand.offset % own.row() == 0) {
        if (const std::int64_t rows = operand.offset / own.row(); rows != 0)
          place.y =
              kernel.writer.integer(PixelWriter::text(place.y) + " + " + kernel.writer.integer_word("rows", rows));
        return kernel.writer.value(operand.item, place, item.dtype());
      }
      facts(operand.item).has_other_reader = true;
    }
    if (has_few_numbers(item, read_as)) {
      const std::int64_t last = read_as.channels - 1;
      return few_numbers(kernel, operand, {0, std::min<std::int64_t>(1, last), std::min<std::int64_t>(2, last), last});
    }
    return kernel.writer.value(source(operand, read_as), place, item.dtype());
  }

  // The number by which an image in elements is asked for.
  int source(const GraphItem::Operand& operand, const PixelImage& read_as) {
    const ElementSource source{operand.item, operand.offset + graph_.at(operand.item).start, read_as};
    const auto known = std::ranges::find(sources_, source);
    const auto index = static_cast<int>(known - sources_.begin());
    if (known == sources_.end()) sources_.push_back(source);
    return count() + index;
  }

  // The number by which an image is asked for that may lie in texels which the device can filter, whole.
  std::optional<int> filterable(const GraphItem::Operand& operand, const PixelImage& read_as) {
    const GraphItem& item = graph_.at(operand.item);
    if (!is_float(item.dtype()) || !can_be_half(read_as)) return std::nullopt;
    if (is_pixels(operand.item))
      return operand.offset == 0 && image(operand.item) == read_as ? std::optional(operand.item) : std::nullopt;
    return has_few_numbers(item, read_as) ? std::nullopt : std::optional(source(operand, read_as));
  }

  PixelRef elements(Draft& kernel, const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) {
    const GraphItem& item = graph_.at(operand.item);
    if (item.first_number != GraphItem::none) return few_numbers(kernel, operand, indices);
    facts(operand.item).has_other_reader = true;
    const int input = kernel.writer.input(operand.item, {PixelPlace::elements, item.dtype(), 0});
    const std::string start =
        "u32(" + kernel.writer.integer_word("first of " + std::to_string(input), operand.offset + item.start) + ")";
    std::string at = "vec4u(" + start + ")";
    if (indices != std::array<std::int64_t, 4>{})
      for (std::size_t i = 0; i < 4; ++i) at += (i ? "u, " : " + vec4u(") + std::to_string(indices[i]);
    if (indices != std::array<std::int64_t, 4>{}) at += "u)";
    return kernel.writer.vector(item.dtype(), "input_" + std::to_string(input) + "(" + at + ")");
  }

  // Elements that are parameters of the kernel.
  PixelRef few_numbers(Draft& kernel, const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) {
    const GraphItem& item = graph_.at(operand.item);
    std::array<int, 4> numbers;
    for (std::size_t i = 0; i < 4; ++i) numbers[i] = item.first_number + static_cast<int>(operand.offset + indices[i]);
    return kernel.writer.graph_numbers(item.dtype(), numbers);
  }

  Draft& new_kernel(const PixelImage& domain) {
    kernels_.push_back(std::make_unique<Draft>(Draft{domain}));
    return *kernels_.back();
  }

  // Values between pixels, from the pixels around them.
  static void read_around(Draft& kernel, int wanted) {
    for (const auto& [value, place] : kernel.writer.wanted_between(wanted))
      kernel.writer.define(value, mixed_between(kernel.writer, place, [&, of = value](const PixelSpot& spot) {
                             return kernel.writer.value(wanted, spot, kernel.writer.dtype_of(of));
                           }));
  }

  // Values between pixels, as the device filters them.
  static void read_filtered(Draft& kernel, int wanted, int input_item, PixelInput input) {
    const auto values = kernel.writer.wanted_between(wanted);
    if (values.empty()) return;
    input.is_filtered = true;
    const std::string k = std::to_string(kernel.writer.input(input_item, input));
    for (const auto& [value, place] : values)
      kernel.writer.define(value, kernel.writer.vector(kernel.writer.dtype_of(value),
                                                       "input_" + k + "_between(vec2f(" + PixelWriter::text(place.x) +
                                                           ", " + PixelWriter::text(place.y) + "))"));
  }

  // Computes the item in the kernel, wherever the kernel asked for it.
  void compute_in(Draft& kernel, int item) {
    Reader reader(*this, kernel);
    if (is_linear_item(item)) {
      for (const auto& [value, place] : kernel.writer.wanted_between(item))
        kernel.writer.define(value, write_linear_between(reader, graph_, graph_.at(item), place));
    } else {
      read_around(kernel, item);
    }
    for (const auto& [value, place] : kernel.writer.wanted_of(item))
      kernel.writer.define(value, write_pixel_form(reader, graph_, graph_.at(item), place));
    kernel.items.push_back(item);
  }

  // Reads pixels in texels, of an item or of a storage of the plan's own, or a host's.
  void read_texels(Draft& kernel, int wanted, int input_item, const PixelInput& input, const PixelImage& read_as,
                   bool can_filter) {
    if (can_filter) read_filtered(kernel, wanted, input_item, input);
    else read_around(kernel, wanted);
    const auto values = kernel.writer.wanted_of(wanted);
    if (values.empty()) return;
    const std::string k = std::to_string(kernel.writer.input(input_item, input));
    const std::string width = kernel.writer.integer_word("width", read_as.width);
    for (const auto& [value, place] : values) {
      const std::string pixel =
          "input_" + k + "(" + PixelWriter::text(place.x) + ", " + PixelWriter::text(place.y) + ", " + width + ")";
      const std::string grey = (is_float(input.dtype) ? "vec4f(" : "vec4i(") + pixel + ".x)";
      kernel.writer.define(value,
                           kernel.writer.vector(kernel.writer.dtype_of(value), read_as.channels == 1 ? grey : pixel));
    }
  }

  // Reads pixels of an item that has its elements in order, from element `offset` of the storage on.
  void read_elements(Draft& kernel, int wanted, int item, std::int64_t offset, const PixelImage& read_as) {
    read_around(kernel, wanted);
    const auto values = kernel.writer.wanted_of(wanted);
    if (values.empty()) return;
    const DType dtype = graph_.at(item).dtype();
    PixelWriter& writer = kernel.writer;
    const std::string k = std::to_string(writer.input(item, {PixelPlace::elements, dtype, 0}));
    for (const auto& [value, place] : values) {
      std::string pixel = PixelWriter::text(place.y) + " * " + writer.integer_word("width", read_as.width) + " + " +
                          PixelWriter::text(place.x);
      if (read_as.channels == 4 && offset % 4 == 0) {
        if (offset != 0) pixel += " + " + writer.integer_word("first texel of " + k, offset / 4);
        writer.define(value, writer.vector(dtype, "input_" + k + "_texel(u32(" + pixel + "))"));
        continue;
      }
      std::string first = "(" + pixel + ") * " + std::to_string(read_as.channels);
      if (offset != 0) first += " + " + writer.integer_word("first of " + k, offset);
      const std::string at = PixelWriter::text(writer.unsigned_integer("u32(" + first + ")"));
      const char* channels[] = {"", " + vec4u(0u, 1u, 1u, 1u)", " + vec4u(0u, 1u, 2u, 2u)", " + vec4u(0u, 1u, 2u, 3u)"};
      writer.define(value,
                    writer.vector(dtype, "input_" + k + "(vec4u(" + at + ")" + channels[read_as.channels - 1] + ")"));
    }
  }

  // ---- placing items, readers first

  void add_shown(std::size_t index) {
    const Graph::Shown& shown = graph_.shown[index];
    const Graph::Place& place = graph_.wanted[shown.wanted];
    const PixelImage shown_image = *pixel_image_of(shown.shape);
    const GraphItem& item = graph_.at(place.item);
    Draft& kernel = new_kernel(shown_image);
    kernel.target = shown.target;
    kernel.shown = index;
    const GraphItem::Operand operand{.shape = shown.shape, .item = place.item, .offset = place.offset};
    const PixelRef value = pixel(kernel, operand, shown_image, kernel.writer.here());
    kernel.outputs.push_back(
        {{PixelResult::target},
         {PixelPlace::host, item.dtype(), static_cast<int>(shown_image.channels), {}, shown.target->type()},
         value});
  }

  void place_item(int item) {
    if (const HostSource* source = graph_.at(item).source) return place_host_source(item, *source);
    const Facts& own = facts(item);
    if (!own.is_pixels) return;
    const bool is_stored = own.is_wanted || own.has_other_reader;
    const std::vector<Draft*> readers = readers_of(item);
    if (!is_stored && readers.empty()) return;
    if (!is_stored && is_worth_repeating(item)) {
      for (Draft* kernel : readers) compute_in(*kernel, item);
      ++ops_fused_;
      return;
    }
    store(item, readers);
  }

  // A texture is sampled by all who need its pixels, and a kernel reads it where somebody needs the elements, unless
  // these come from outside.
  void place_host_source(int item, const HostSource& source) {
    Facts& own = facts(item);
    own.is_imported = own.is_wanted || own.has_other_reader;
    const PixelImage pixels = image(item);
    const DType dtype = graph_.at(item).dtype();
    const auto channels = static_cast<int>(pixels.channels);
    if (own.is_imported && !graph_.at(item).is_stored) {
      Draft& kernel = new_kernel(pixels);
      const PixelRef value = kernel.writer.value(item, kernel.writer.here(), dtype);
      kernel.outputs.push_back({{item}, {PixelPlace::elements, dtype, channels, {}, {}}, value});
    }
    for (Draft* kernel : readers_of(item)) {
      read_texels(*kernel, item, item, {PixelPlace::host, dtype, channels, source.type()}, pixels,
                  source.is_filterable());
      kernel->items.push_back(item);
    }
  }

  std::vector<Draft*> readers_of(int wanted) const {
    std::vector<Draft*> readers;
    for (const std::unique_ptr<Draft>& kernel : kernels_)
      if (pixels_read_by(*kernel, wanted) != 0) readers.push_back(kernel.get());
    return readers;
  }

  // By each invocation.
  static std::size_t pixels_read_by(const Draft& kernel, int wanted) {
    return kernel.writer.wanted_of(wanted).size() + 4 * kernel.writer.wanted_between(wanted).size();
  }

  double reads_of(int wanted) const {
    double reads = 0;
    for (const std::unique_ptr<Draft>& kernel : kernels_)
      reads += static_cast<double>(pixels_read_by(*kernel, wanted)) * kernel->evaluations *
               static_cast<double>(kernel->domain.pixels());
    return reads;
  }

  // Whether computing an item wherever it is read costs less than storing it.
  bool is_worth_repeating(int item) const {
    for (const std::unique_ptr<Draft>& kernel : kernels_)
      if (const auto times = pixels_read_by(*kernel, item);
          times > 1 && static_cast<double>(times) * costs_.with_reads(item) > PixelCosts::most_repeated &&
          !moves_pixels(graph_.at(item)))
        return false;
    return costs_.is_worth_repeating(item, reads_of(item), [&](int other) { return reads_of(other); });
  }

  void store(int item, const std::vector<Draft*>& readers) {
    if (stays_in_texels(item)) return store_in_texels(item, readers);
    const PixelImage pixels = image(item);
    const Facts& own = facts(item);
    const DType dtype = graph_.at(item).dtype();
    PixelLayout layout = layout_of(pixels);
    // The same storage is both where a texel has just the channels of a pixel.
    const bool are_alike = layout.channels == pixels.channels &&
                           (limits_.pixels.stores_elements ? dtype == DType::f32 : pixels.channels == 4);
    const bool needs_elements = own.is_wanted || own.has_other_reader;
    const bool in_texels = is_float(dtype) && (dtype == DType::f32 || can_be_half(pixels)) &&
                           (!needs_elements || (are_alike && graph_.at(item).layout == 0));
    layout.is_half = in_texels && !needs_elements && (dtype == DType::f16 || (graph_.is_half && can_be_half(pixels)));
    const PixelInput texels{PixelPlace::texels, layout.is_half ? DType::f16 : dtype, layout.channels};
    const PixelOutput output{.place = in_texels ? PixelPlace::texels : PixelPlace::elements,
                             .dtype = in_texels ? texels.dtype : dtype,
                             .channels = in_texels ? layout.channels : static_cast<int>(pixels.channels),
                             .value = {},
                             .is_rounded_freely = texels.dtype != dtype};
    const bool stores_alone = !in_texels && !stores_pixels(dtype, output.channels);
    if (!in_texels && is_worth_texels_too(item)) return store_in_texels_too(item, readers);

    Draft* kernel = stores_alone ? nullptr : companion(item, readers);
    const bool joins = kernel != nullptr;
    if (!kernel) kernel = &new_kernel(pixels);
    PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
    compute_in(*kernel, item);
    if (in_texels && pixels.channels == 3) value = three_channels(*kernel, value);
    // A tensor may move to another device, where its elements must be in order too.
    const bool is_plain = !in_texels || (needs_elements && limits_.pixels.stores_elements);
    kernel->outputs.push_back({{item, is_plain ? PixelLayout{} : layout}, output, value});
    if (stores_alone) kernel->evaluations = evaluations(item);
    if (joins) ++ops_fused_;

    for (Draft* reader : readers) {
      if (reader == kernel) continue;
      if (costs_.of(item) <= PixelCosts::reading + 1) compute_in(*reader, item);
      else if (in_texels) read_texels(*reader, item, item, texels, pixels, layout.is_half);
      else read_elements(*reader, item, item, 0, pixels);
    }
  }

  // See stays_in_texels.
  void store_in_texels(int item, const std::vector<Draft*>& readers) {
    const PixelImage pixels = image(item);
    const DType dtype = graph_.at(item).dtype();
    Draft* kernel = companion(item, readers);
    if (kernel) ++ops_fused_;
    else kernel = &new_kernel(pixels);
    PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
    compute_in(*kernel, item);
    const bool are_elements = limits_.pixels.stores_elements;
    kernel->outputs.push_back({{item, are_elements ? PixelLayout{} : layout_of(pixels), true},
                               {.place = are_elements ? PixelPlace::elements : PixelPlace::texels,
                                .dtype = dtype,
                                .channels = 4,
                                .value = {}},
                               three_channels(*kernel, value)});
    for (Draft* reader : readers) {
      if (reader == kernel) continue;
      if (costs_.of(item) <= PixelCosts::reading + 1) compute_in(*reader, item);
      else if (are_elements) read_elements(*reader, item, item, 0, {pixels.height, pixels.width, 4});
      else read_texels(*reader, item, item, {PixelPlace::texels, dtype, 4}, pixels, false);
    }
  }

  // Whether an item that is needed as elements is made in texels for those who read pixels, and packed from there.
  bool is_worth_texels_too(int item) const {
    const PixelImage pixels = image(item);
    const DType dtype = graph_.at(item).dtype();
    if (!is_float(dtype) || !(dtype == DType::f16 ? can_be_half(pixels) : fits(pixels))) return false;
    const double times = evaluations(item), of_pixels = static_cast<double>(pixels.pixels());
    const double saved = reads_of(item) * (costs_.reading_elements(pixels) - PixelCosts::reading) +
                         of_pixels * (times - 1) * costs_.with_reads(item);
    return saved > of_pixels * (costs_.storing() + times * PixelCosts::reading);
  }

  void store_in_texels_too(int item, const std::vector<Draft*>& readers) {
    const PixelImage pixels = image(item);
    const DType dtype = graph_.at(item).dtype();
    PixelLayout layout = layout_of(pixels);
    layout.is_half = dtype == DType::f16;
    const int storage = own_storage(dtype, layout);
    Draft* kernel = companion(item, readers);
    if (!kernel) kernel = &new_kernel(pixels);
    PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
    compute_in(*kernel, item);
    if (pixels.channels == 3) value = three_channels(*kernel, value);
    kernel->outputs.push_back({{storage, layout},
                               {.place = PixelPlace::texels, .dtype = dtype, .channels = layout.channels, .value = {}},
                               value});
    Draft& packing = new_kernel(pixels);
    packing.outputs.push_back(
        {{item},
         {.place = PixelPlace::elements, .dtype = dtype, .channels = static_cast<int>(pixels.channels), .value = {}},
         packing.writer.value(item, packing.writer.here(), dtype)});
    for (Draft* reader : readers_of(item))
      read_texels(*reader, item, storage, {PixelPlace::texels, dtype, layout.channels}, pixels, layout.is_half);
  }

  int own_storage(DType dtype, const PixelLayout& layout) {
    own_storages_.push_back({dtype, layout.width * layout.height * layout.channels, 0, layout});
    return count() + static_cast<int>(own_storages_.size()) - 1;
  }

  // Nobody reads the fourth component of a texel: what makes it is left out.
  static PixelRef three_channels(Draft& kernel, PixelRef value) {
    return kernel.writer.vector(kernel.writer.dtype_of(value), "vec4f(" + PixelWriter::text(value) + ".xyz, 0.0)");
  }

  // A kernel of the same size that can write the item too: the only one that reads it, where it is, or one that reads
  // what it reads, and neither needs the other.
  Draft* companion(int item, const std::vector<Draft*>& readers) {
    const PixelImage pixels = image(item);
    for (const std::unique_ptr<Draft>& kernel : kernels_) {
      if (!kernel->has_extent_of(pixels) || !takes_output(*kernel)) continue;
      const bool reads = std::ranges::find(readers, kernel.get()) != readers.end();
      if (reads ? readers.size() == 1 && !facts(item).has_other_reader && reads_in_place(*kernel, item) &&
                      is_worth_repeating(item)
                : readers.empty() && !facts(item).has_other_reader && shares_reads(*kernel, item) &&
                      !depends_on(*kernel, item))
        return kernel.get();
    }
    return nullptr;
  }

  // Whether an invocation can store the elements of its pixel, which are whole words then.
  bool stores_pixels(DType dtype, int channels) const {
    return limits_.pixels.stores_elements && is_float(dtype) &&
           size_of(dtype) * static_cast<std::size_t>(channels) % 4 == 0;
  }

  bool takes_output(const Draft& kernel) const {
    const bool is_alone = std::ranges::any_of(kernel.outputs, [&](const DraftOutput& each) {
      return each.output.place == PixelPlace::elements && !stores_pixels(each.output.dtype, each.output.channels);
    });
    return !is_alone && static_cast<int>(kernel.outputs.size()) < limits_.pixels.max_outputs &&
           (!kernel.target || kernel.target->takes_more_outputs());
  }

  static bool reads_in_place(const Draft& kernel, int item) {
    return std::ranges::any_of(kernel.writer.wanted_of(item),
                               [&](const auto& wanted) { return wanted.second == kernel.writer.here(); });
  }

  // Whether both are made of the same item, some operations before.
  bool shares_reads(const Draft& kernel, int item) const {
    std::vector<bool> of_kernel(graph_.items.size(), false), of_item = of_kernel;
    for (const DraftOutput& output : kernel.outputs)
      if (const int made = item_of(kernel, output); made < count()) of_kernel[static_cast<std::size_t>(made)] = true;
    of_item[static_cast<std::size_t>(item)] = true;
    for (int i = count() - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      if (of_kernel[at] && of_item[at]) return true;
      for (const GraphItem::Operand& operand : graph_.at(i).operands) {
        if (operand.is_number()) continue;
        const auto read = static_cast<std::size_t>(operand.item);
        of_kernel[read] = of_kernel[read] || of_kernel[at];
        of_item[read] = of_item[read] || of_item[at];
      }
    }
    return false;
  }

  int item_of(const Draft& kernel, const DraftOutput& output) const {
    return output.result.item == PixelResult::target ? graph_.wanted[graph_.shown[kernel.shown].wanted].item
                                                     : output.result.item;
  }

  bool depends_on(const Draft& kernel, int item) const {
    std::vector<bool> needs(graph_.items.size(), false);
    needs[static_cast<std::size_t>(item)] = true;
    for (int i = item + 1; i < count(); ++i)
      for (const GraphItem::Operand& operand : graph_.at(i).operands)
        if (!operand.is_number() && needs[static_cast<std::size_t>(operand.item)])
          needs[static_cast<std::size_t>(i)] = true;
    return std::ranges::any_of(kernel.outputs, [&](const DraftOutput& output) {
      const int made = item_of(kernel, output);
      return made >= count() || needs[static_cast<std::size_t>(made)];
    });
  }

  // Elements in order are read as they are, or become texels first, where that pays.
  void place_source(int index) {
    const ElementSource source = sources_[static_cast<std::size_t>(index)];
    const int wanted = count() + index;
    const std::vector<Draft*> readers = readers_of(wanted);
    const DType dtype = graph_.at(source.item).dtype();
    const double by_element = costs_.reading_elements(source.image);
    const double saved = reads_of(wanted) * (by_element - PixelCosts::reading);
    const double spent = static_cast<double>(source.image.pixels()) * (by_element + costs_.storing());
    const bool must_copy = graph_.at(source.item).is_overwritten && !graph_.at(source.item).source;
    const bool pays = saved > spent && source.image.pixels() > 1;  // one pixel is the same for all
    const bool fits_texels = dtype == DType::f16 ? can_be_half(source.image) : fits(source.image);
    if (!(pays || must_copy) || !is_float(dtype) || !fits_texels) {
      for (Draft* kernel : readers) read_elements(*kernel, wanted, source.item, source.offset, source.image);
      return;
    }
    PixelLayout layout = layout_of(source.image);
    layout.is_half = dtype == DType::f16 || (graph_.is_half && can_be_half(source.image));
    const DType kept = layout.is_half ? DType::f16 : dtype;
    const int storage = own_storage(kept, layout);
    for (Draft* kernel : readers)
      read_texels(*kernel, wanted, storage, {PixelPlace::texels, kept, layout.channels}, source.image, layout.is_half);
    Draft& kernel = new_kernel(source.image);
    const PixelRef value = kernel.writer.value(wanted, kernel.writer.here(), dtype);
    read_elements(kernel, wanted, source.item, source.offset, source.image);
    kernel.outputs.push_back({{storage, layout},
                              {.place = PixelPlace::texels,
                               .dtype = kept,
                               .channels = layout.channels,
                               .value = {},
                               .is_rounded_freely = kept != dtype},
                              value});
  }

  // ---- steps

  Step step_of(Draft& kernel) {
    std::vector<PixelOutput> outputs;
    std::vector<PixelRef> values;
    Step step;
    for (const DraftOutput& output : kernel.outputs) {
      outputs.push_back(output.output);
      values.push_back(output.value);
      step.pixel_results.push_back(output.result);
    }
    PixelWriter::Finished finished =
        kernel.writer.finish(std::move(outputs), values, kernel.domain.width, kernel.domain.height);
    if (static_cast<int>(finished.kernel.inputs.size()) > limits_.pixels.max_inputs ||
        finished.kernel.words > limits_.max_words)
      throw std::length_error("A pixel kernel has too many inputs or words.");
    finished.kernel.label = label_of(kernel);
    finished.kernel.make_key();
    step.pixel_kernel = std::move(finished.kernel);
    step.inputs = kernel.writer.input_items();
    step.words = std::move(finished.words);
    step.numbers = std::move(finished.numbers);
    step.shown = kernel.shown;
    return step;
  }

  std::string label_of(const Draft& kernel) const {
    std::vector<int> items = kernel.items;
    std::ranges::sort(items);
    std::string label;
    std::size_t names = 0;
    std::string last;
    for (const int item : items) {
      const std::string name = op_name(*graph_.at(item).operation);
      if (name == last) continue;
      last = name;
      if (++names > 8) {
        label += " > …";
        break;
      }
      label += (label.empty() ? "" : " > ") + name;
    }
    if (label.empty()) label = "copy";
    return kernel.target ? label + " > show" : label;
  }

  const Graph& graph_;
  Limits limits_;
  PixelCosts costs_;
  std::vector<Facts> facts_;
  bool computes_;
  std::vector<ElementSource> sources_;
  std::vector<std::unique_ptr<Draft>> kernels_;
  std::vector<StorageSpec> own_storages_;
  std::uint64_t ops_fused_ = 0;
};

}  // namespace

PixelPlan plan_pixels(const Graph& graph, const Limits& limits) {
  if (limits.pixels.max_side == 0)
    return {.steps = {}, .is_taken = std::vector<bool>(graph.items.size(), false), .own_storages = {}};
  for (const double storing : {80.0, 0.0}) {
    try {
      return PixelPlanner(graph, limits, storing, true).plan();
    } catch (const std::length_error&) {
      continue;  // with smaller kernels
    }
  }
  return PixelPlanner(graph, limits, 0, false).plan();
}

}  // namespace tessera
