#include "backend_gles/pixel_shader.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/kernel/embedded_shader.h"
#include "core/kernel/glsl_spelling.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

SourceType source_type(const std::string& text) {
  std::istringstream parts(text);
  SourceType type;
  int value = 0;
  std::string sharing, begin;
  parts >> type.sampler >> type.swizzle >> value >> sharing >> begin;
  type.value = static_cast<HostValue>(value);
  type.is_alone = sharing == "alone";
  type.is_from_corner = begin == "corner";
  return type;
}

TargetType target_type(const std::string& text) {
  std::istringstream parts(text);
  TargetType type;
  parts >> type.vector;
  for (std::string part; parts >> part;) {
    type.flip_y = type.flip_y || part == "flipped";
    type.is_from_corner = type.is_from_corner || part == "corner";
  }
  return type;
}

// input_k(x, y, width): one pixel; input_k_between(place): as the device filters them.
std::string pixel_function(int k, const std::string& sampler, const std::string& swizzle, bool is_filtered) {
  const std::string name = sampler_name(k);
  const std::string declaration = "uniform " + sampler + " " + name + ";\nvec4 input_" + std::to_string(k);
  if (is_filtered)
    return declaration + "_between(" + (sampler == "sampler3D" ? "vec3" : "vec2") + " place) { return textureLod(" +
           name + ", place, 0.0)." + swizzle + "; }\n";
  return declaration + "(int x, int y, int width) { return vec4(texelFetch(" + name + ", ivec2(x, y), 0))." + swizzle +
         "; }\n";
}

// input_k_at(place): the pixel there. Software drivers sample the nearest texel in less time than they fetch one.
std::string place_function(int k) {
  return "vec4 input_" + std::to_string(k) + "_at(vec2 place) { return textureLod(" + sampler_name(k) +
         ", place, 0.0); }\n";
}

// The same for a tensor's elements, whose texel of some number is at input_k_place(), from corner to corner of a
// texture of input_k_size().
std::string place_functions_of_elements(int k) {
  const std::string name = "input_" + std::to_string(k), size = "textureSize(" + sampler_name(k) + ", 0)";
  return place_function(k) + "vec2 " + name + "_size() { return vec2(" + size + "); }\nvec2 " + name +
         "_place(int texel) { return vec2(place(texel, " + size + ".x)); }\n";
}

// A cube has no texels that are fetched by their place, but its texels are in the directions of their centres.
constexpr std::string_view cube_direction = R"(
vec3 cube_direction(int face, vec2 at) {
  if (face == 0) return vec3(1.0, -at.y, -at.x);
  if (face == 1) return vec3(-1.0, -at.y, at.x);
  if (face == 2) return vec3(at.x, 1.0, at.y);
  if (face == 3) return vec3(at.x, -1.0, -at.y);
  if (face == 4) return vec3(at.x, -at.y, 1.0);
  return vec3(-at.x, -at.y, -1.0);
}
)";

// The same for a part of a host's texture.
std::string host_function(int k, const PixelInput& input) {
  const SourceType type = source_type(input.host_type);
  const std::string name = sampler_name(k), part = part_name(k), at = "ivec2(x, y) + " + part + ".xy";
  std::string texel = "texelFetch(" + name + ", " + at + ", " + part + ".w)";
  if (type.is_from_corner) texel = "texelFetch(" + name + ", ivec2(x, y), 0)";
  if (type.sampler.ends_with("Cube"))
    texel = "textureLod(" + name + ", cube_direction(" + part + ".z, (2.0 * vec2(" + at +
            ") + 1.0) / float(textureSize(" + name + ", " + part + ".w).x) - 1.0), float(" + part + ".w))";
  else if (type.sampler.ends_with("Array") || type.sampler.ends_with("3D"))
    texel = "texelFetch(" + name + ", ivec3(" + at + ", " + part + ".z), " + part + ".w)";
  return "uniform " + type.sampler + " " + name + ";\nuniform ivec4 " + part + ";\n" +
         glsl_spelling(vector_type(input.dtype)) + " input_" + std::to_string(k) +
         "(int x, int y, int width) {\n  vec4 texel = vec4(" + texel + ");\n  return " +
         glsl_spelling(host_value_text(type.value, "texel")) + "." + type.swizzle + ";\n}\n";
}

// input_k_three(element): three elements that follow one another are in one texel or two.
std::string three_elements(int k, const std::string& vector) {
  const std::string name = sampler_name(k);
  return vector + " input_" + std::to_string(k) +
         "_three(uint element) {\n  int first = int(element), skipped = first & 3;\n  ivec2 size = textureSize(" +
         name +
         ", 0), at = place(first >> 2, size.x);\n"
         "  ivec2 after = at.x + 1 < size.x ? ivec2(at.x + 1, at.y) : ivec2(0, min(at.y + 1, size.y - 1));\n  " +
         vector + " a = " + vector + "(texelFetch(" + name + ", at, 0)), b = " + vector + "(texelFetch(" + name +
         ", after, 0));\n  return skipped == 0 ? a.xyzz : skipped == 1 ? a.yzww : skipped == 2 ? " + vector +
         "(a.zw, b.xx) : " + vector + "(a.w, b.xyy);\n}\n";
}

// input_k(element): four elements, by their indices; input_k_texel(texel): the four of a texel.
std::string element_functions(int k, DType dtype, const std::string& body) {
  const std::string name = std::to_string(k), vector = glsl_spelling(vector_type(dtype));
  return fetch_functions(k, dtype, true) + vector + " input_" + name +
         "(uvec4 element) {\n  ivec4 at = ivec4(element);\n" + four_elements(name, vector) + "}\n" + vector +
         " input_" + name + "_texel(uint texel) { return texel_" + name + "(int(texel)); }\n" +
         (body.find("input_" + name + "_three(") != std::string::npos ? three_elements(k, vector) : "") +
         (body.find("input_" + name + "_place(") != std::string::npos ? place_functions_of_elements(k) : "");
}

std::string inputs_text(const PixelKernel& kernel) {
  std::string text;
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) {
    const PixelInput& input = kernel.inputs[static_cast<std::size_t>(k)];
    switch (input.place) {
      case PixelPlace::elements: text += element_functions(k, input.dtype, kernel.body); break;
      case PixelPlace::texels:
        text += pixel_function(k, input.is_volume ? "sampler3D" : "sampler2D", input.channels == 1 ? "xxxx" : "xyzw",
                               input.is_filtered);
        if (!input.is_filtered) text += place_function(k);
        break;
      case PixelPlace::host:
        text += input.is_filtered ? pixel_function(k, "sampler2D", source_type(input.host_type).swizzle, true)
                                  : host_function(k, input);
        break;
    }
  }
  const bool has_cube = text.find("cube_direction(") != std::string::npos;
  return has_cube ? std::string(cube_direction) + text : text;
}

// The output's variable, as a half where it is one, unless the body has rounded it.
std::string value_of(const PixelKernel& kernel, const PixelOutput& output) {
  const bool is_rounded = kernel.body.find("let " + output.value + ": vec4f = round_f16(") != std::string::npos;
  return output.dtype == DType::f16 && !output.is_rounded_freely && !is_rounded ? "round_f16(" + output.value + ")"
                                                                                : output.value;
}

// `host`: a texel of the host's target, as to_texture.glsl makes it.
std::string host_texel(const PixelOutput& output, const std::string& vector) {
  constexpr const char* components[] = {"host.xxx, 1.0", "host.xy, 0.0, 1.0", "host.xyz, 1.0", "host"};
  return "  vec4 host = vec4(" + output.value + ")" +
         (output.dtype == DType::u8 && vector == "vec4" ? " * (1.0 / 255.0)" : "") + ";\n  host = vec4(" +
         components[output.channels - 1] + ");\n";
}

std::string result_name(std::size_t output) { return "result_" + std::to_string(output); }

struct OutputTexts {
  std::string declarations, flip, results;
};

OutputTexts outputs_text(const PixelKernel& kernel, const Variant& variant) {
  OutputTexts texts;
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
    const PixelOutput& output = kernel.outputs[i];
    const std::string result = result_name(i);
    if (output.place == PixelPlace::host) {
      const TargetType type = target_type(output.host_type);
      const std::string& vector = type.vector;
      texts.declarations += "layout(location = " + std::to_string(i) + ") out " + vector + " " + result + ";\n";
      if (type.flip_y) texts.flip = "  y = word_int(1) - 1 - y;\n";
      texts.results += host_texel(output, vector) + "  " + result + " = " +
                       (vector == "vec4" ? "host" : vector + "(round(host))") + ";\n";
    } else {
      texts.declarations += output_text(result, static_cast<int>(i), output.dtype);
      const bool is_half = output.dtype == DType::f16;
      if (is_half) texts.results += "  vec4 half_" + std::to_string(i) + " = " + value_of(kernel, output) + ";\n";
      texts.results +=
          "  " + result + " = " + (is_half ? stored_half("half_" + std::to_string(i), variant) : output.value) + ";\n";
    }
  }
  return texts;
}

bool is_from_corner(const PixelOutput& output) {
  return output.place == PixelPlace::host ? target_type(output.host_type).is_from_corner : !output.is_volume;
}

}  // namespace

std::string part_name(int k) { return "part_" + std::to_string(k); }

std::string fragment_text(const PixelKernel& kernel, const Variant& variant) {
  const std::string inputs = inputs_text(kernel);
  std::string body = glsl_spelling(kernel.body), head, pixel, elements;
  OutputTexts outputs;
  if (makes_elements(kernel)) {
    const PixelOutput& output = kernel.outputs[0];
    head = "#define CHANNELS " + std::to_string(output.channels) + "\n#define VECTOR " +
           glsl_spelling(vector_type(output.dtype)) + "\n";
    outputs.declarations = output_text("result", 0, output.dtype);
    pixel = std::exchange(body, {}) + "  return " + value_of(kernel, output) + ";\n";
    elements = elements_text("four", output.dtype, variant);
  } else {
    outputs = outputs_text(kernel, variant);
    if (std::ranges::all_of(kernel.outputs, is_from_corner)) head = "#define IS_FROM_CORNER\n";
  }
  const std::string text =
      fill_template(embedded_shader("pixels.glsl"),
                    {{"head", head},
                     {"words", words_text(kernel.words)},
                     {"place", std::string(embedded_shader("place.glsl"))},
                     {"functions", functions_of("pointwise", inputs + body + pixel + outputs.results)},
                     {"inputs", inputs},
                     {"outputs", outputs.declarations},
                     {"flip", outputs.flip},
                     {"body", body},
                     {"results", outputs.results},
                     {"pixel", pixel},
                     {"elements", elements}});
  return with_constants(text, kernel.constants, ShaderLanguage::glsl);
}

}  // namespace tessera::gles
