#include "backend_gles/pixel_shader.h"

#include <utility>

#include "core/kernel/embedded_shader.h"
#include "core/kernel/glsl_spelling.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

SourceType source_type(const std::string& text) {
  const std::size_t end = text.find(' ');
  return {text.substr(0, end), text.substr(end + 1)};
}

TargetType target_type(const std::string& text) {
  const std::size_t end = text.find(' ');
  return {text.substr(0, end), end != std::string::npos};
}

// input_k(x, y, width): one pixel.
std::string pixel_function(int k, const std::string& sampler, const std::string& swizzle) {
  const std::string name = sampler_name(k);
  return "uniform " + sampler + " " + name + ";\nvec4 input_" + std::to_string(k) +
         "(int x, int y, int width) { return vec4(texelFetch(" + name + ", ivec2(x, y), 0))." + swizzle + "; }\n";
}

// input_k(element): four elements, by their indices; input_k_texel(texel): the four of a texel.
std::string element_functions(int k, DType dtype) {
  const std::string name = std::to_string(k), vector = glsl_spelling(vector_type(dtype));
  return fetch_functions(k, dtype, true) + vector + " input_" + name +
         "(uvec4 element) {\n  ivec4 at = ivec4(element);\n" + four_elements(name, vector) + "}\n" + vector +
         " input_" + name + "_texel(uint texel) { return texel_" + name + "(int(texel)); }\n";
}

std::string inputs_text(const PixelKernel& kernel) {
  std::string text;
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) {
    const PixelInput& input = kernel.inputs[static_cast<std::size_t>(k)];
    switch (input.place) {
      case PixelPlace::elements: text += element_functions(k, input.dtype); break;
      case PixelPlace::texels: text += pixel_function(k, "sampler2D", input.channels == 1 ? "xxxx" : "xyzw"); break;
      case PixelPlace::host: {
        const SourceType type = source_type(input.host_type);
        text += pixel_function(k, type.sampler, type.swizzle);
        break;
      }
    }
  }
  return text;
}

// The output's variable, as a half where it is one, unless the body has rounded it.
std::string value_of(const PixelKernel& kernel, const PixelOutput& output) {
  const bool is_rounded = kernel.body.find("let " + output.value + ": vec4f = round_f16(") != std::string::npos;
  return output.dtype == DType::f16 && !is_rounded ? "round_f16(" + output.value + ")" : output.value;
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
      const auto [vector, flip_y] = target_type(output.host_type);
      texts.declarations += "layout(location = " + std::to_string(i) + ") out " + vector + " " + result + ";\n";
      if (flip_y) texts.flip = "  y = word_int(1) - 1 - y;\n";
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

}  // namespace

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
  }
  return fill_template(embedded_shader("pixels.glsl"),
                       {{"head", head},
                        {"words", words_text(kernel.words)},
                        {"functions", functions_of("pointwise", inputs + body + pixel + outputs.results)},
                        {"inputs", inputs},
                        {"outputs", outputs.declarations},
                        {"flip", outputs.flip},
                        {"body", body},
                        {"results", outputs.results},
                        {"pixel", pixel},
                        {"elements", elements}});
}

}  // namespace tessera::gles
