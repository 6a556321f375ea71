#include <tessera/conv.h>

#include <limits>

#include "core/ops/conv_phases.h"
#include "core/ops/octets.h"
#include "core/ops/window.h"
#include "core/ops/winograd.h"

namespace tessera {
namespace {

using ConvEntry = KernelEntry<ConvParameters, ConvOptions>;
std::optional<PaddedFamily> padded_convolution(const Family&, const FamilyUse&, int cores);
std::vector<FamilyStages> conv_in_stages(const Family&, const FamilyUse&);
constexpr ConvEntry conv_each{
    {.name = "conv", .file = "conv", .padded = padded_convolution, .in_stages = conv_in_stages}};
std::vector<Family> conv_variants(const Family&, const FamilyUse&);

// These make four result channels of a pixel at a time; conv_strip makes them for four pixels, of floats only, and
// conv_slide for eight, depthwise.
constexpr ConvEntry conv_texel{
    {.name = "conv_texel", .file = "conv", .variants = conv_variants, .in_stages = conv_in_stages}};
Held without_strips(const Node& node) {
  Family family = std::get<Family>(node.operation);
  family.entry = &conv_texel;
  family.workgroups = 0;
  return lowered(node, std::move(family));
}
constexpr ConvEntry conv_strip{{.name = "conv_strip",
                                .file = "conv",
                                .is_cooperative = true,
                                .lower = without_strips,
                                .variants = conv_variants,
                                .in_stages = conv_in_stages}};
constexpr ConvEntry conv_slide{
    {.name = "conv_slide", .file = "conv", .is_cooperative = true, .lower = without_strips, .variants = conv_variants}};
constexpr std::int64_t strip = 4, slide = 8, conv_workgroup = 64;

Held without_octets(const Node&);
Family conv_for_cores(const Family&, const FamilyUse&, int cores);
constexpr KernelEntry<ConvOctetParameters, ConvOctetOptions> conv_octets{{.name = "conv_octets",
                                                                          .file = "conv",
                                                                          .is_cooperative = true,
                                                                          .in_octets = true,
                                                                          .lower = without_octets,
                                                                          .variants = conv_variants,
                                                                          .for_cores = conv_for_cores,
                                                                          .in_stages = conv_in_stages}};
constexpr KernelEntry<ConvOctetParameters, ConvDot4Options> conv_dot4{
    {.name = "conv_dot4", .file = "conv_dot4", .is_cooperative = true, .in_octets = true, .lower = without_octets}};

// The way a kernel reads the operands for the four result elements of a texel.
enum Reading : std::int32_t {
  each_element,       // whatever the sizes
  filter_by_texel,    // four result channels of one pixel and group: filter by the texel, image by the element
  both_by_texel,      // likewise, with the image's channels by the texel too
  depthwise,          // four channels, each a group of its own
  transposed_texels,  // a transposed convolution, four image channels for four result channels at a time
  // Where result channels are padded, four elements of the filter are no texel:
  image_by_texel,     // both_by_texel
  four_elements,      // filter_by_texel
  depthwise_elements  // depthwise, nor are those of the image
};

struct Channels {
  std::int64_t image, result, groups;
  std::int64_t image_in_group() const { return image / groups; }
  std::int64_t result_in_group() const { return result / groups; }
};

Reading reading_of(const Channels& channels, bool is_transposed) {
  const bool image_has_texels = channels.image_in_group() % 4 == 0,
             result_has_texels = channels.result_in_group() % 4 == 0;
  if (is_transposed) return image_has_texels && result_has_texels ? transposed_texels : each_element;
  if (result_has_texels) return image_has_texels ? both_by_texel : filter_by_texel;
  const bool is_depthwise = channels.image_in_group() == 1 && channels.result_in_group() == 1;
  return is_depthwise && channels.image % 4 == 0 ? depthwise : each_element;
}

void check_filter_rank(std::string_view op, const Tensor& filter, std::size_t spatial_axes, std::string_view form) {
  if (filter.shape().rank() != static_cast<int>(spatial_axes) + 2)
    fail(ErrorCode::shape_mismatch, op,
         "the filter " + filter.shape().to_string() + " has rank " + std::to_string(filter.shape().rank()) +
             "; it should be " + std::string(form) + ".");
}

void check_same_dtype(std::string_view op, const Tensor& image, const Tensor& filter) {
  if (image.dtype() == filter.dtype() || (is_integer(image.dtype()) && is_integer(filter.dtype()))) return;
  fail(ErrorCode::dtype_mismatch, op,
       "the image is " + std::string(to_string(image.dtype())) + ", the filter " +
           std::string(to_string(filter.dtype())) + ".");
}

void check_divides(std::string_view op, std::int64_t groups, std::int64_t channels, std::string_view whose) {
  if (channels % groups != 0)
    fail(ErrorCode::shape_mismatch, op,
         std::to_string(groups) + " groups do not divide the " + std::to_string(channels) + " channels of the " +
             std::string(whose) + ".");
}

void check_groups(std::string_view op, std::int64_t groups, std::int64_t channels) {
  if (groups < 1)
    fail(ErrorCode::invalid_argument, op, "there are " + std::to_string(groups) + " groups; there must be at least 1.");
  check_divides(op, groups, channels, "image");
  if (groups > std::numeric_limits<std::int32_t>::max())  // of no channels
    fail(ErrorCode::invalid_argument, op, "there are " + std::to_string(groups) + " groups of no channels.");
}

Channels checked_channels(std::string_view op, const Tensor& image, const Tensor& filter, std::int64_t groups) {
  check_groups(op, groups, image.shape()[-1]);
  const Channels channels{image.shape()[-1], filter.shape()[-1], groups};
  check_divides(op, groups, channels.result, "filter's result");
  if (filter.shape()[-2] != channels.image_in_group())
    fail(ErrorCode::shape_mismatch, op,
         "the image " + image.shape().to_string() + " has " + std::to_string(channels.image_in_group()) +
             " channels in each of " + std::to_string(groups) + " groups, the filter " + filter.shape().to_string() +
             " takes " + std::to_string(filter.shape()[-2]) + ".");
  return channels;
}

// A convolution as all of its families have it.
struct Convolution {
  ConvParameters parameters;
  ConvOptions options;

  // Pixels side by side, and whether their steps are as long as those of the taps.
  bool has_strips() const { return parameters.axes[0].result >= strip; }
  bool is_depthwise() const { return options.reading == depthwise || options.reading == depthwise_elements; }
  bool slides() const {
    const WindowAxis& axis = parameters.axes[0];
    return is_depthwise() && axis.stride == axis.dilation && has_strips();
  }
  bool is_of_groups() const {
    return options.reading == filter_by_texel || options.reading == both_by_texel ||
           options.reading == image_by_texel || options.reading == four_elements;
  }
  std::int64_t groups() const { return parameters.result_channels / parameters.result_in_group; }
  std::int64_t pixels(std::int64_t elements) const { return elements / parameters.result_channels; }
};

// A kernel that makes four result channels of `pixels` side by side.
Family for_pixels(const ConvEntry& entry, std::int64_t pixels, const Convolution& conv, std::int64_t elements) {
  Family family = entry.with(conv.parameters, conv.options);
  const std::int64_t width = conv.parameters.axes[0].result, strips = (width + pixels - 1) / pixels;
  const std::int64_t invocations = elements / width / 4 * strips;
  family.workgroups = (invocations + conv_workgroup - 1) / conv_workgroup;
  return family;
}

// The types of image and filter.
struct ConvTypes {
  DType image, filter;
  bool are_floats() const { return is_float(image); }
  bool are_bytes() const {
    const auto is_byte = [](DType dtype) { return dtype == DType::i8 || dtype == DType::u8; };
    return is_byte(image) && is_byte(filter);
  }
};

// A kernel that makes four result channels at a time: for some pixels side by side, where there are workgroups.
Family by_texels(const ConvParameters& parameters, const ConvOptions& options, std::int64_t elements, bool on_floats) {
  const Convolution conv{parameters, options};
  if (conv.slides()) return for_pixels(conv_slide, slide, conv, elements);
  if (on_floats && conv.has_strips()) return for_pixels(conv_strip, strip, conv, elements);
  return conv_texel.with(parameters, options);
}

ConvOctetParameters in_tiles_of_octets(const OctetTiles& tiles, const ConvParameters& parameters) {
  return {.result_channels = parameters.result_channels,
          .image_channels = parameters.image_channels,
          .axes = parameters.axes,
          .result_in_group = parameters.result_in_group,
          .image_in_group = parameters.image_in_group,
          .filter_channels = parameters.filter_channels,
          .lanes = tiles.lanes,
          .row_stripes = tiles.row_stripes,
          .column_stripes = tiles.column_stripes,
          .tiles = tiles.tiles};
}

Family in_octets(const OctetTiles& tiles, const ConvParameters& parameters, const ConvOptions& options) {
  Family family = conv_octets.with(in_tiles_of_octets(tiles, parameters), {.axes = options.axes,
                                                                           .is_transposed = options.is_transposed,
                                                                           .reading = options.reading,
                                                                           .octets = tiles.octets});
  family.workgroups = tiles.tiles;
  return family;
}

Family in_dot4(const OctetTiles& tiles, const ConvParameters& parameters, const ConvOptions& options,
               const ConvTypes& types) {
  Family family = conv_dot4.with(in_tiles_of_octets(tiles, parameters), {.axes = options.axes,
                                                                         .is_transposed = options.is_transposed,
                                                                         .reading = options.reading,
                                                                         .octets = tiles.octets,
                                                                         .unsigned_a = types.image == DType::u8,
                                                                         .unsigned_b = types.filter == DType::u8});
  family.workgroups = tiles.tiles;
  return family;
}

Family conv_family(const ConvParameters& parameters, const ConvOptions& options, std::int64_t elements,
                   const ConvTypes& types) {
  const Convolution conv{parameters, options};
  if (options.reading == each_element || options.is_transposed == 1) return conv_each.with(parameters, options);
  if (conv.is_of_groups() && parameters.result_in_group >= least_columns_in_octets) {
    const OctetTiles tiles = octet_tiles(conv.pixels(elements), parameters.result_in_group, conv.groups());
    return types.are_bytes() && options.reading == both_by_texel ? in_dot4(tiles, parameters, options, types)
                                                                 : in_octets(tiles, parameters, options);
  }
  return by_texels(parameters, options, elements, types.are_floats());
}

template <class Options>
Convolution convolution_in_octets(const Family& family) {
  const auto parameters = from_words<ConvOctetParameters>(family.words);
  const auto options = from_options<Options>(family.options);
  return {{.result_channels = parameters.result_channels,
           .image_channels = parameters.image_channels,
           .axes = parameters.axes,
           .result_in_group = parameters.result_in_group,
           .image_in_group = parameters.image_in_group,
           .filter_channels = parameters.filter_channels},
          {.axes = options.axes, .is_transposed = 0, .reading = options.reading}};
}

Convolution convolution_of(const Family& family) {
  if (family.entry == &conv_octets) return convolution_in_octets<ConvOctetOptions>(family);
  if (family.entry == &conv_dot4) return convolution_in_octets<ConvDot4Options>(family);
  return {from_words<ConvParameters>(family.words), from_options<ConvOptions>(family.options)};
}

Held without_octets(const Node& node) {
  const Convolution conv = convolution_of(std::get<Family>(node.operation));
  return lowered(node, by_texels(conv.parameters, conv.options, node.shape.size(), is_float(node.dtype)));
}

std::vector<Family> conv_variants(const Family& family, const FamilyUse& use) {
  const Convolution conv = convolution_of(family);
  std::vector<Family> families;
  if (use.octets && conv.is_of_groups())
    for (const std::int64_t octets : {1, 2})
      families.push_back(
          in_octets(octet_tiles(octets, conv.pixels(use.elements), conv.parameters.result_in_group, conv.groups()),
                    conv.parameters, conv.options));
  if (conv.slides()) families.push_back(for_pixels(conv_slide, slide, conv, use.elements));
  if (conv.options.reading > transposed_texels) return families;  // the others read filters by the texel
  if (is_float(use.dtype) && conv.has_strips()) families.push_back(for_pixels(conv_strip, strip, conv, use.elements));
  families.push_back(conv_texel.with(conv.parameters, conv.options));
  return families;
}

// With as many result channels as make whole texels. What the filter has there instead makes results that nobody reads.
std::optional<PaddedFamily> padded_convolution(const Family& family, const FamilyUse& use, int cores) {
  Convolution conv = convolution_of(family);
  ConvParameters& parameters = conv.parameters;
  const bool is_depthwise = parameters.result_in_group == 1 && parameters.image_in_group == 1;
  if (!use.octets || conv.options.is_transposed == 1 || (!is_depthwise && conv.groups() > 1)) return std::nullopt;
  const std::int64_t channels = parameters.result_channels, padded = (channels + 3) / 4 * 4;
  parameters.result_channels = padded;
  const std::int64_t pixels = use.elements / channels, elements = pixels * padded;
  std::int64_t products = use.elements * parameters.image_in_group;
  for (const WindowAxis& axis : parameters.axes) products *= axis.taps;
  const bool pays = products >= least_products_to_pad;
  if (is_depthwise) {
    conv.options.reading = depthwise_elements;
    if (channels < 4 || !conv.slides()) return std::nullopt;
    return PaddedFamily{for_pixels(conv_slide, slide, conv, elements), channels, padded, pays};
  }
  parameters.result_in_group = padded;
  conv.options.reading = parameters.image_channels % 4 == 0 ? image_by_texel : four_elements;
  if (padded < least_columns_in_octets) return std::nullopt;
  const OctetTiles tiles = cores > 0 ? octet_tiles_for_cores(cores, pixels, padded, 1) : octet_tiles(pixels, padded, 1);
  return PaddedFamily{in_octets(tiles, parameters, conv.options), channels, padded, pays};
}

std::vector<FamilyStages> conv_in_stages(const Family& family, const FamilyUse& use) {
  const Convolution conv = convolution_of(family);
  return winograd_ways(conv.parameters, conv.options, use);
}

Family conv_for_cores(const Family& family, const FamilyUse& use, int cores) {
  const Convolution conv = convolution_of(family);
  return in_octets(
      octet_tiles_for_cores(cores, conv.pixels(use.elements), conv.parameters.result_in_group, conv.groups()),
      conv.parameters, conv.options);
}

Tensor conv_tensor(std::string_view op, const Tensor& image, const Tensor& filter, std::span<const WindowAxis> axes,
                   const Channels& channels, bool is_transposed) {
  const Shape result = window_result(op, image.shape()[0], axes, channels.result);
  const ConvTypes types{image.dtype(), filter.dtype()};
  const DType dtype = types.are_floats() ? types.image : DType::i32;
  if (image.shape().size() == 0 || result.size() == 0) return number_like(image.cast(dtype), result, 0);
  const ConvParameters parameters{.result_channels = channels.result,
                                  .image_channels = channels.image,
                                  .axes = innermost_first(axes),
                                  .result_in_group = channels.result_in_group(),
                                  .image_in_group = channels.image_in_group(),
                                  .filter_channels = channels.result};
  const ConvOptions options{
      .axes = std::ssize(axes), .is_transposed = is_transposed, .reading = reading_of(channels, is_transposed)};
  return family_tensor(result, dtype, conv_family(parameters, options, result.size(), types), {image, filter});
}

Tensor conv(std::string_view op, const Tensor& image, const Tensor& filter, const WindowOptions& options,
            std::int64_t groups) {
  constexpr std::string_view forms[] = {"[width,in,out]", "[height,width,in,out]", "[depth,height,width,in,out]"};
  const std::size_t spatial_axes = options.strides.size();
  check_same_context(op, TensorAccess::info(image), TensorAccess::info(filter));
  check_image_rank(op, image, spatial_axes);
  check_filter_rank(op, filter, spatial_axes, forms[spatial_axes - 1]);
  for (const Tensor* operand : {&image, &filter})
    check_dtype(op, *operand, operand->dtype() != DType::boolean, "floats and integers");
  check_same_dtype(op, image, filter);
  const Channels channels = checked_channels(op, image, filter, groups);
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < spatial_axes; ++i)
    axes.push_back(
        window_axis(op, i, image.shape()[static_cast<int>(i) + 1], filter.shape()[static_cast<int>(i)], options));
  return conv_tensor(op, image, filter, axes, channels, false);
}

template <std::size_t Count>
std::span<const std::int64_t> span_of(const std::optional<std::array<std::int64_t, Count>>& pads) {
  return pads ? std::span<const std::int64_t>(*pads) : std::span<const std::int64_t>();
}

template <class Options>
WindowOptions window_of(const Options& options) {
  return {options.strides, options.dilations, options.padding, span_of(options.pads)};
}

// The size to which a transposed convolution brings an axis of `size`, unless the user asks for another.
std::int64_t transposed_size(std::int64_t size, std::int64_t taps, std::size_t axis, const WindowOptions& options) {
  const std::int64_t stride = options.strides[axis], reach = (taps - 1) * options.dilations[axis] + 1;
  if (!options.pads.empty()) return (size - 1) * stride + reach - options.pads[2 * axis] - options.pads[2 * axis + 1];
  return size * stride + (options.padding == Padding::same ? 0 : std::max<std::int64_t>(reach - stride, 0));
}

// The axis of the convolution that a transposed one goes back through: image and result change places.
WindowAxis transposed_axis(std::string_view op, std::size_t axis, std::int64_t size, std::int64_t taps,
                           std::optional<std::int64_t> size_asked, const WindowOptions& options) {
  // Refuses options that no size makes right before it computes a size from them.
  check_window(op, axis, taps, options);
  window_axis(op, axis, (taps - 1) * options.dilations[axis] + 1, taps, options);
  const std::int64_t result = size_asked.value_or(transposed_size(size, taps, axis, options));
  if ((result < 1 && size > 0) || result > std::numeric_limits<std::int32_t>::max())
    fail(size_asked ? ErrorCode::invalid_argument : ErrorCode::shape_mismatch, op,
         "the result would have " + std::to_string(result) + " elements along spatial axis " + std::to_string(axis) +
             ", made of " + std::to_string(size) + " of the image.");
  WindowAxis transposed = window_axis(op, axis, result, taps, options);
  if (transposed.result != size)
    fail(ErrorCode::shape_mismatch, op,
         "a result of " + std::to_string(result) + " elements along spatial axis " + std::to_string(axis) +
             " goes with an image of " + std::to_string(transposed.result) + ", but the image has " +
             std::to_string(size) + ".");
  std::swap(transposed.image, transposed.result);
  return transposed;
}

}  // namespace

Tensor conv1d(const Tensor& image, const Tensor& filter, const Conv1d& options) {
  return conv("conv1d", image, filter,
              {.strides = {&options.stride, 1},
               .dilations = {&options.dilation, 1},
               .padding = options.padding,
               .pads = span_of(options.pads)},
              options.groups);
}

Tensor conv2d(const Tensor& image, const Tensor& filter, const Conv2d& options) {
  return conv("conv2d", image, filter, window_of(options), options.groups);
}

Tensor conv3d(const Tensor& image, const Tensor& filter, const Conv3d& options) {
  return conv("conv3d", image, filter, window_of(options), options.groups);
}

Tensor conv2d_transpose(const Tensor& image, const Tensor& filter, const Conv2dTranspose& options) {
  const std::string_view op = "conv2d_transpose";
  check_same_context(op, TensorAccess::info(image), TensorAccess::info(filter));
  check_image_rank(op, image, 2);
  check_filter_rank(op, filter, 2, "[height,width,out,in]");
  for (const Tensor* operand : {&image, &filter}) check_dtype(op, *operand, is_float(operand->dtype()), "floats");
  check_same_dtype(op, image, filter);
  check_groups(op, options.groups, image.shape()[3]);
  const Channels channels{.image = image.shape()[3],
                          .result = size_product(op, {filter.shape()[2], options.groups}),
                          .groups = options.groups};
  if (filter.shape()[3] != channels.image)
    fail(ErrorCode::shape_mismatch, op,
         "the image " + image.shape().to_string() + " has " + std::to_string(channels.image) +
             " channels, the filter " + filter.shape().to_string() + " takes " + std::to_string(filter.shape()[3]) +
             ".");
  const WindowOptions window = window_of(options);
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < 2; ++i) {
    std::optional<std::int64_t> size_asked;
    if (options.size) size_asked = (*options.size)[i];
    axes.push_back(transposed_axis(op, i, image.shape()[static_cast<int>(i) + 1], filter.shape()[static_cast<int>(i)],
                                   size_asked, window));
  }
  const bool is_empty = image.shape().size() == 0 || window_result(op, 1, axes, channels.result).size() == 0;
  if (has_equal_phases(axes) && !is_empty) return conv_in_phases(image, filter, axes, options.groups);
  return conv_tensor(op, image, filter, axes, channels, true);
}

}  // namespace tessera
