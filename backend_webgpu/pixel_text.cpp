#include "backend_webgpu/pixel_text.h"

#include <algorithm>

#include "backend_webgpu/buffer_text.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/texture_format.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"

namespace tessera::webgpu {
namespace {

// How the pixels of an image lie in a buffer: each is one unit, or has one for each channel.
struct PixelUnits {
  std::string type;
  std::string components;  // of a pixel's value, or of its packed words, that a unit has: ".xy"
  bool is_per_channel = false;
  bool is_packed = false;  // by the functions of shaders_wgsl/texel.wgsl
};

PixelUnits units_of(DType dtype, int channels) {
  const BufferLayout layout = layout_of(dtype);
  const bool is_packed = !layout.packing.empty();
  if (channels == 4) return {std::string(layout.texel), "", false, is_packed};
  if (is_packed) return {std::string(layout.word), ".x", false, true};
  if (channels == 2) return {dtype == DType::f32 ? "vec2f" : "vec2i", ".xy"};
  return {std::string(layout.word), ".x", channels == 3};
}

// Pixels of three channels take the room of four in texels.
PixelUnits units_of(const PixelOutput& output) {
  const bool has_room = output.place == PixelPlace::texels && output.channels == 3;
  return units_of(output.dtype, has_room ? 4 : output.channels);
}

bool fills_words(const PixelOutput& output) {
  return output.place != PixelPlace::elements ||
         size_of(output.dtype) * static_cast<std::size_t>(output.channels) % 4 == 0;
}

bool is_flipped(const PixelOutput& output) {
  return output.place == PixelPlace::host && TargetType::of(output.host_type).is_flipped;
}

bool reads_texels_of(const PixelKernel& kernel, const std::string& k) {
  return kernel.body.find("input_" + k + "_texel(") != std::string::npos;
}

std::string texture_type(const SourceType& type) {
  const char* shape = type.has_samples()                        ? "texture_multisampled_2d<"
                      : type.shape == SourceType::Shape::volume ? "texture_3d<"
                                                                : "texture_2d<";
  return shape + type.sampled + ">";
}

std::uint64_t hosts_among(const std::vector<PixelInput>& inputs, std::size_t count) {
  const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(count);
  return narrow<std::uint64_t>(
      std::count_if(inputs.begin(), end, [](const PixelInput& input) { return input.place == PixelPlace::host; }));
}

// The vector of words that tells the part of an input, or of the target, which comes after all inputs.
std::string part_text(const PixelKernel& kernel, std::size_t input) {
  const std::uint64_t vector =
      parameter_vectors(static_cast<std::size_t>(kernel.words)) + hosts_among(kernel.inputs, input);
  return "ints_of_words(" + std::to_string(vector) + "u)";
}
std::string target_part(const PixelKernel& kernel) { return part_text(kernel, kernel.inputs.size()); }

std::string pixel_bindings(const PixelKernel& kernel) {
  std::string text;
  int index = 0;
  const auto texture = [&](const std::string& name, const std::string& type) {
    return "@group(0) @binding(" + std::to_string(index) + ") var " + name + ": " + type + ";\n";
  };
  for (const PixelInput& input : kernel.inputs) {
    const std::string k = std::to_string(index++), name = "source_" + k;
    const BufferLayout layout = layout_of(input.dtype);
    switch (input.place) {
      case PixelPlace::elements:
        text += binding(index, "read", name, reads_texels_of(kernel, k) ? layout.texel : layout.word);
        break;
      case PixelPlace::texels:
        text += is_texture(input) ? texture(name, input.is_volume ? "texture_3d<f32>" : "texture_2d<f32>")
                                  : binding(index, "read", name, units_of(input.dtype, input.channels).type);
        break;
      case PixelPlace::host: text += texture(name, texture_type(SourceType::of(input.host_type))); break;
    }
  }
  for (std::size_t k = 0; k < kernel.outputs.size(); ++k) {
    const PixelOutput& output = kernel.outputs[k];
    if (&output == drawn_output(kernel)) continue;
    ++index;
    const std::string name = "destination_" + std::to_string(k);
    if (output.place == PixelPlace::host) {
      const TargetType type = TargetType::of(output.host_type);
      text += texture(name, (type.is_stored_in_3d ? "texture_storage_3d<" : "texture_storage_2d<") +
                                std::string(format_named(type.format).storage) + ", write>");
    } else if (is_texture(output)) {
      text += texture(
          name, output.is_volume ? "texture_storage_3d<rgba16float, write>" : "texture_storage_2d<rgba16float, write>");
    } else {
      const bool is_gathered = !fills_words(output);
      text += binding(index, "read_write", name, is_gathered ? layout_of(output.dtype).texel : units_of(output).type);
    }
  }
  ++index;
  return text + (filters(kernel) ? texture("linear_filter", "sampler") : "");
}

std::string filtered_input(const std::string& k, const std::string& components, bool is_volume = false) {
  return "fn input_" + k + "_between(place: " + (is_volume ? "vec3f" : "vec2f") +
         ") -> vec4f { return textureSampleLevel(source_" + k + ", linear_filter, place, 0.0)." + components + "; }\n";
}

std::string input_of_host(const PixelKernel& kernel, std::size_t index) {
  const PixelInput& input = kernel.inputs[index];
  const SourceType type = SourceType::of(input.host_type);
  const std::string k = std::to_string(index), name = "source_" + k;
  if (input.is_filtered) return filtered_input(k, type.components);
  const std::string at = type.is_from_corner ? "vec2i(x, y)" : "vec2i(x, y) + part.xy";
  std::string text, texel = "vec4f(textureLoad(" + name + ", " + at + ", 0))";
  if (type.shape == SourceType::Shape::volume) texel = "vec4f(textureLoad(" + name + ", vec3i(" + at + ", part.z), 0))";
  if (type.shape == SourceType::Shape::averaged) {
    texel = "mean_" + k + "(" + at + ")";
    text = "fn mean_" + k + "(at: vec2i) -> vec4f {\n  let samples = textureNumSamples(" + name +
           ");\n  var sum = vec4f();\n  for (var i = 0u; i < samples; i++) { sum += textureLoad(" + name +
           ", at, i); }\n  return sum / f32(samples);\n}\n";
  }
  return text + "fn input_" + k + "(x: i32, y: i32, width: i32) -> " + vector_type(input.dtype) +
         " {\n  let part = " + part_text(kernel, index) + ";\n  return " + host_value_text(type.value, texel) + "." +
         type.components + ";\n}\n";
}

std::string input_of_pixels(const std::string& k, const PixelInput& input) {
  const std::string begin = "fn input_" + k + "(x: i32, y: i32, width: i32) -> vec4f { return ";
  if (is_texture(input)) {
    const std::string components = input.channels == 1 ? "rrrr" : "rgba";
    if (input.is_filtered) return filtered_input(k, components, input.is_volume);
    return begin + "textureLoad(source_" + k + ", vec2i(x, y), 0)." + components + "; }\n";
  }
  const std::string pixel = "source_" + k + "[y * width + x]";
  std::string value = pixel;
  if (input.channels == 1) value = "vec4f(" + pixel + ")";
  else if (input.channels == 2) value = pixel + ".xyxy";
  return begin + value + "; }\n";
}

std::string input_of_elements(const PixelKernel& kernel, const std::string& k, DType dtype) {
  const bool reads_texels = reads_texels_of(kernel, k);
  std::string text = element_function(k, dtype, reads_texels) + "fn input_" + k + "(at: vec4u) -> " +
                     vector_type(dtype) + " { return " + four_elements(k, dtype) + "; }\nfn input_" + k +
                     "_three(element: u32) -> " + vector_type(dtype) + " { return input_" + k +
                     "(vec4u(element) + vec4u(0u, 1u, 2u, 2u)); }\n";
  if (reads_texels)
    text += "fn input_" + k + "_texel(at: u32) -> " + vector_type(dtype) + " { return " + texel_text(k, dtype, "at") +
            "; }\n";
  return text;
}

// Elements past the end of the last texel are zero: the invocation of the last pixel sees to that.
std::string zeros_after(const std::string& destination, const PixelOutput& output, const PixelUnits& units) {
  if (output.channels == 4) return "";
  const std::string after = units.is_per_channel ? "3u * (pixel_index + 1u)" : "pixel_index + 1u";
  return "  if (pixel_index == words[0].x * words[0].y - 1u) {\n    for (var after = " + after + "; after % " +
         (output.channels == 2 ? "2" : "4") + "u != 0u; after++) { " + destination + "[after] = " + units.type +
         "(); }\n  }\n";
}

// Of a texture of halves. Devices that make NaN of an infinity there make an infinity of 2^16.
std::string texel_value(const PixelOutput& output, bool stores_half_infinity_as_nan) {
  if (output.is_rounded_freely) return output.value;
  const std::string value = "round_f16(" + output.value + ")";
  if (!stores_half_infinity_as_nan) return value;
  return "select(" + value + ", sign(" + value + ") * 65536.0, abs(" + value + ") > vec4f(65504.0))";
}

std::string store_pixel(const std::string& destination, const PixelOutput& output, bool stores_half_infinity_as_nan) {
  const bool is_texels = output.place == PixelPlace::texels;
  if (is_texture(output)) {
    const std::string rows = "i32(textureDimensions(" + destination + ").y)",
                      at = output.is_volume ? "vec3i(x, y % " + rows + ", y / " + rows + ")" : "vec2i(x, y)";
    return "  textureStore(" + destination + ", " + at + ", " + texel_value(output, stores_half_infinity_as_nan) +
           ");\n";
  }
  const PixelUnits units = units_of(output);
  const std::string& value = output.value;
  std::string text;
  if (units.is_per_channel)
    for (std::size_t c = 0; c < 3; ++c)
      text +=
          "  " + destination + "[3u * pixel_index + " + std::to_string(c) + "u] = " + value + "." + "xyz"[c] + ";\n";
  else
    text = "  " + destination + "[pixel_index] = " + (units.is_packed ? packed_text(output.dtype, value) : value) +
           units.components + ";\n";
  return is_texels ? text : text + zeros_after(destination, output, units);
}

// The colour that a host's target gets.
std::string colour_text(const PixelOutput& output) {
  const std::string value = output.dtype == DType::u8 ? "(vec4f(" + output.value + ") * (1.0 / 255.0))" : output.value;
  switch (output.channels) {
    case 1: return "vec4f(" + value + ".xxx, 1.0)";
    case 2: return "vec4f(" + value + ".xy, 0.0, 1.0)";
    case 3: return "vec4f(" + value + ".xyz, 1.0)";
    default: return value;
  }
}

std::string store_colour(const std::string& destination, const PixelKernel& kernel, const PixelOutput& output) {
  const TargetType type = TargetType::of(output.host_type);
  const std::string row = type.is_flipped ? "ints_of_words(0u).y - 1 - y" : "y", part = target_part(kernel),
                    place = "vec2i(x, " + row + ") + " + part + ".xy";
  return "  textureStore(" + destination + ", " +
         (type.is_stored_in_3d ? "vec3i(" + place + ", " + part + ".z)" : place) + ", " + colour_text(output) + ");\n";
}

// make_pixel(): the body, and the stores that follow it; gives the colour of a drawn target, or the pixel that is
// gathered.
std::string pixel_function(const PixelKernel& kernel, PixelEntry entry, bool stores_half_infinity_as_nan) {
  std::string stores, result;
  for (std::size_t k = 0; k < kernel.outputs.size(); ++k) {
    const PixelOutput& output = kernel.outputs[k];
    const std::string destination = "destination_" + std::to_string(k);
    if (entry == PixelEntry::gather) result = output.value;
    else if (&output == drawn_output(kernel))
      result = is_texture(output) ? texel_value(output, stores_half_infinity_as_nan) : colour_text(output);
    else if (output.place == PixelPlace::host) stores += store_colour(destination, kernel, output);
    else stores += store_pixel(destination, output, stores_half_infinity_as_nan);
  }
  const std::string type = entry == PixelEntry::gather ? vector_type(kernel.outputs[0].dtype) : "vec4f";
  return "fn make_pixel(x: i32, y: i32)" + (result.empty() ? "" : " -> " + type) + " {\n" + kernel.body +
         (stores.empty() ? "" : "  let pixel_index = u32(y) * words[0].x + u32(x);\n" + stores) +
         (result.empty() ? "" : "  return " + result + ";\n") + "}\n";
}

// Stores the elements of four pixels, which are in `made`, in their order.
std::string store_texels(int channels) {
  std::string text;
  for (int texel = 0; texel < channels; ++texel) {
    text += "  store_texel(channels * quad + " + std::to_string(texel) + "u, pixel_vector(";
    for (int i = 4 * texel; i < 4 * texel + 4; ++i)
      text +=
          std::string(i == 4 * texel ? "" : ", ") + "made[" + std::to_string(i / channels) + "]." + "xyz"[i % channels];
    text += "));\n";
  }
  return text;
}

std::string entry_text(const PixelKernel& kernel, PixelEntry entry) {
  if (entry == PixelEntry::compute) return std::string(embedded_shader("pixels_compute.wgsl"));
  if (entry == PixelEntry::draw)
    return std::string(embedded_shader("triangle.wgsl")) +
           fill_template(embedded_shader("pixels_draw.wgsl"),
                         {{"corner", "  let corner = " +
                                         (drawn_output(kernel)->place == PixelPlace::host ? target_part(kernel) + ".xy"
                                                                                          : "vec2i()") +
                                         ";\n"}});
  const PixelOutput& output = kernel.outputs[0];
  return fill_template(embedded_shader("pixels_gather.wgsl"),
                       {{"texels", store_texels(output.channels)},
                        {"store", "  destination_0[texel] = " + packed_text(output.dtype, "value") + ";\n"}});
}

std::string pixel_constants(const PixelKernel& kernel, PixelEntry entry) {
  std::string text = "const word_vectors = " + std::to_string(vectors_of(kernel)) + "u;\n";
  if (entry == PixelEntry::compute)
    text += "const workgroup_width = " + std::to_string(PixelGroup::width) +
            "u;\nconst workgroup_height = " + std::to_string(PixelGroup::height) + "u;\n";
  if (entry == PixelEntry::gather)
    text += "const channels = " + std::to_string(kernel.outputs[0].channels) +
            "u;\nalias pixel_vector = " + vector_type(kernel.outputs[0].dtype) + ";\n";
  if (const PixelOutput* drawn = drawn_output(kernel))
    text += std::string("const is_flipped = ") + (is_flipped(*drawn) ? "true" : "false") + ";\n";
  return text;
}

}  // namespace

const PixelOutput* drawn_output(const PixelKernel& kernel) {
  for (const PixelOutput& output : kernel.outputs)
    if (output.place == PixelPlace::host && TargetType::of(output.host_type).is_drawn) return &output;
  const bool has_one = kernel.outputs.size() == 1;
  return has_one && is_texture(kernel.outputs[0]) && !kernel.outputs[0].is_volume ? &kernel.outputs[0] : nullptr;
}

PixelEntry entry_of(const PixelKernel& kernel) {
  for (const PixelOutput& output : kernel.outputs) {
    if (&output == drawn_output(kernel)) return PixelEntry::draw;
    if (!fills_words(output)) return PixelEntry::gather;
  }
  return PixelEntry::compute;
}

std::uint64_t vectors_of(const PixelKernel& kernel) {
  const bool has_target = std::ranges::count(kernel.outputs, PixelPlace::host, &PixelOutput::place) != 0;
  return parameter_vectors(static_cast<std::size_t>(kernel.words)) + hosts_among(kernel.inputs, kernel.inputs.size()) +
         (has_target ? 1 : 0);
}

std::string pixel_text(const PixelKernel& kernel, bool stores_half_infinity_as_nan) {
  const PixelEntry entry = entry_of(kernel);
  std::string inputs;
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    const PixelInput& input = kernel.inputs[i];
    const std::string k = std::to_string(i);
    inputs += input.place == PixelPlace::elements ? input_of_elements(kernel, k, input.dtype)
              : input.place == PixelPlace::host   ? input_of_host(kernel, i)
                                                  : input_of_pixels(k, input);
  }
  const std::string pixel = pixel_function(kernel, entry, stores_half_infinity_as_nan),
                    entry_point = entry_text(kernel, entry);
  const std::string text =
      fill_template(embedded_shader("pixels.wgsl"),
                    {{"constants", pixel_constants(kernel, entry)},
                     {"words", std::string(embedded_shader("words.wgsl"))},
                     {"bindings", pixel_bindings(kernel)},
                     {"functions", used_functions(embedded_shader("texel.wgsl"), inputs + pixel + entry_point) +
                                       used_functions(embedded_shader("pointwise.wgsl"), inputs + pixel)},
                     {"inputs", inputs},
                     {"pixel", pixel},
                     {"entry", entry_point}});
  return with_constants(text, kernel.constants, ShaderLanguage::wgsl);
}

}  // namespace tessera::webgpu
