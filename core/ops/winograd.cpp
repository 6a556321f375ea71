#include "core/ops/winograd.h"

#include <algorithm>

#include "core/ops/contraction.h"

namespace tessera {
namespace {

using WinogradEntry = KernelEntry<WinogradParameters, WinogradOptions>;

// Kernels that make all matrices, or pixels, of a texel of a tile together, and those that make one texel each.
struct WinogradEntries {
  WinogradEntry image, filter, result;
};
constexpr WinogradEntries winograd_by_tiles{{{.name = "winograd_image", .file = "winograd", .is_cooperative = true}},
                                            {{.name = "winograd_filter", .file = "winograd", .is_cooperative = true}},
                                            {{.name = "winograd_result", .file = "winograd", .is_cooperative = true}}};
constexpr WinogradEntries winograd_by_texels{{{.name = "winograd_image_texel", .file = "winograd"}},
                                             {{.name = "winograd_filter_texel", .file = "winograd"}},
                                             {{.name = "winograd_result_texel", .file = "winograd"}}};

constexpr std::int64_t winograd_matrices = 16;

std::int64_t channels_in_texels(std::int64_t channels) { return (channels + 3) / 4 * 4; }

bool is_of_three_by_three(const WindowAxis& axis) { return axis.taps == 3 && axis.stride == 1 && axis.dilation == 1; }

bool is_for_winograd(const ConvParameters& parameters, const ConvOptions& options, const FamilyUse& use) {
  const bool is_of_one_group = parameters.result_in_group == parameters.result_channels &&
                               parameters.image_in_group == parameters.image_channels &&
                               parameters.filter_channels == parameters.result_channels;
  return is_float(use.dtype) && options.axes == 2 && options.is_transposed == 0 && is_of_one_group &&
         is_of_three_by_three(parameters.axes[0]) && is_of_three_by_three(parameters.axes[1]);
}

WinogradAxis winograd_axis(const WindowAxis& axis) {
  return {.image = axis.image, .result = axis.result, .before = axis.before, .tiles = (axis.result + 1) / 2};
}

Family winograd_family(const WinogradEntry& entry, const WinogradParameters& parameters, std::int64_t channels,
                       std::int64_t texels) {
  constexpr std::int64_t workgroup_of_tiles = 64;  // as in the shaders
  Family family = entry.with(parameters, {.whole_texels = channels % 4 == 0});
  if (entry.is_cooperative) family.workgroups = (texels + workgroup_of_tiles - 1) / workgroup_of_tiles;
  return family;
}

}  // namespace

std::vector<FamilyStages> winograd_ways(const ConvParameters& conv, const ConvOptions& options, const FamilyUse& use) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 25;  // trials have no room for more
  constexpr std::int64_t most_rows = std::int64_t{1} << 20;      // see winograd_quotients() in the shader
  if (!is_for_winograd(conv, options, use)) return {};
  const WinogradAxis across = winograd_axis(conv.axes[0]), down = winograd_axis(conv.axes[1]);
  const std::int64_t images = use.elements / (conv.result_channels * across.result * down.result);
  const std::int64_t tiles = images * across.tiles * down.tiles, image_channels = conv.image_channels,
                     result_channels = conv.result_channels;
  const std::int64_t terms = channels_in_texels(image_channels), columns = channels_in_texels(result_channels);
  if (winograd_matrices * std::max({tiles * terms, terms * columns, tiles * columns}) > most_elements ||
      winograd_matrices * std::max(tiles, terms) >= most_rows)
    return {};

  const WinogradParameters parameters{
      .image_channels = image_channels, .result_channels = result_channels, .tiles = tiles, .axes = {across, down}};
  const WinogradEntries& entries = use.workgroups ? winograd_by_tiles : winograd_by_texels;
  // Where pixels do not end with a texel, no kernel has texels of the result for itself.
  const WinogradEntry& result_entry = result_channels % 4 == 0 ? entries.result : winograd_by_texels.result;
  const Family image = winograd_family(entries.image, parameters, image_channels, tiles * terms / 4),
               filter = winograd_family(entries.filter, parameters, result_channels, terms * columns / 4),
               result = winograd_family(result_entry, parameters, result_channels, tiles * columns / 4);
  const Contraction contraction{
      .kept = {{columns, 0, 1}, {tiles, terms, 0}, {winograd_matrices, tiles * terms, terms * columns}},
      .summed = {{terms, 1, columns}}};
  const std::int64_t products = winograd_matrices * tiles * columns;
  std::vector<FamilyStages> ways;
  for (const Family& product : contraction_families(contraction, {products, DType::f32, use.octets, use.workgroups}))
    ways.push_back({{image, {0}, winograd_matrices * tiles * terms},
                    {filter, {1}, winograd_matrices * terms * columns},
                    {product, {2, 3}, products},
                    {result, {4}, use.elements}});
  return ways;
}

}  // namespace tessera
