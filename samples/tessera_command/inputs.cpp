#include "inputs.h"

#include <cstdio>
#include <stdexcept>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace command {
namespace {

using tessera::Shape;

Shape shape_of(const tessera::ModelValue& input, const Options& options, const Shape* of_file) {
  if (!input.shape) {
    if (of_file) return *of_file;
    throw std::runtime_error("the model does not say what shape '" + input.name + "' has; give it a .npy file");
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
    const tessera::ModelSize& size = (*input.shape)[axis];
    const auto given = options.sizes.find(size.name);
    if (size.size) sizes.push_back(*size.size);
    else if (given != options.sizes.end()) sizes.push_back(given->second);
    else if (of_file && static_cast<std::size_t>(of_file->rank()) == input.shape->size())
      sizes.push_back((*of_file)[static_cast<int>(axis)]);
    else sizes.push_back(1);
  }
  return Shape(sizes);
}

struct Picture {
  int width, height, channels;
  std::vector<float> pixels;  // 0 to 1
};

Picture load_picture(const std::string& path, int channels) {
  int width = 0, height = 0, of_file = 0;
  stbi_uc* bytes = stbi_load(path.c_str(), &width, &height, &of_file, channels);
  if (!bytes) throw std::runtime_error(path + ": " + stbi_failure_reason());
  Picture picture{width, height, channels, {}};
  const int count = width * height * channels;
  for (int i = 0; i < count; ++i) picture.pixels.push_back(static_cast<float>(bytes[i]) / 255.0f);
  stbi_image_free(bytes);
  return picture;
}

bool is_picture_size(std::int64_t channels) { return channels == 1 || channels == 3 || channels == 4; }

// Where the channels of an input are: before the rows, or last.
struct Layout {
  bool channels_first;
  std::int64_t height, width, channels;
};
Layout layout_of(const std::string& name, const Shape& shape) {
  const int rank = shape.rank();
  if (rank >= 3 && (rank == 3 || shape[0] == 1)) {
    if (is_picture_size(shape[-3])) return {true, shape[-2], shape[-1], shape[-3]};
    if (is_picture_size(shape[-1])) return {false, shape[-3], shape[-2], shape[-1]};
  }
  throw std::runtime_error("'" + name + "' is " + shape.to_string() +
                           ", which is no picture of 1, 3 or 4 channels; give it a .npy file");
}

// A free height and width of an input are those of the picture.
Shape sizes_with_picture(const tessera::ModelValue& input, const Options& options, const std::string& path) {
  int width = 0, height = 0, channels = 0;
  if (!stbi_info(path.c_str(), &width, &height, &channels))
    throw std::runtime_error(path + ": " + stbi_failure_reason());
  Shape shape = shape_of(input, options, nullptr);
  if (!input.shape || shape.rank() < 3) return shape;
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis]);
  const bool channels_first = is_picture_size(shape[-3]) && (*input.shape)[sizes.size() - 3].size.has_value();
  const std::size_t row = sizes.size() - (channels_first ? 2 : 3);
  const auto fill = [&](std::size_t axis, int size) {
    const tessera::ModelSize& of_model = (*input.shape)[axis];
    if (!of_model.size && !options.sizes.contains(of_model.name)) sizes[axis] = size;
  };
  fill(row, height);
  fill(row + 1, width);
  return Shape(sizes);
}

// Brought to the input's size and range on the CPU, so that every device gets the same numbers.
Elements from_picture(const tessera::ModelValue& input, const Options& options, const std::string& path) {
  const Shape shape = sizes_with_picture(input, options, path);
  const Layout layout = layout_of(input.name, shape);
  const Picture picture = load_picture(path, static_cast<int>(layout.channels));
  auto cpu = tessera::Context::create({.prefer = {tessera::BackendKind::cpu}});
  tessera::Tensor image = cpu.tensor({picture.height, picture.width, picture.channels}, picture.pixels);
  image = resize_bilinear(image, static_cast<int>(layout.height), static_cast<int>(layout.width));
  image = image * (options.highest - options.lowest) + options.lowest;
  if (layout.channels_first) image = transpose(image, {2, 0, 1});
  return {shape, input.dtype, image.reshape(shape).cast(input.dtype).cast(tessera::DType::f32).read()};
}

Elements made_up(const tessera::ModelValue& input, const Options& options) {
  Elements elements{shape_of(input, options, nullptr), input.dtype, {}};
  const bool is_whole = !is_float(input.dtype);
  for (std::int64_t i = 0; i < elements.shape.size(); ++i) {
    const auto step = static_cast<float>(i * 37 % 101);
    elements.numbers.push_back(is_whole ? static_cast<float>(i * 37 % 101 % 2) : step / 101);
  }
  return elements;
}

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

Elements from_npy(const tessera::ModelValue& input, const Options& options, const std::string& path) {
  Elements elements = read_npy(path);
  const Shape wanted = shape_of(input, options, &elements.shape);
  if (elements.shape != wanted)
    throw std::runtime_error(path + " is " + elements.shape.to_string() + ", but '" + input.name + "' is " +
                             wanted.to_string());
  elements.dtype = input.dtype;
  return elements;
}

}  // namespace

Inputs inputs_of(const tessera::Model& model, const Options& options) {
  std::map<std::string, std::string> files = options.inputs;
  if (const auto only = files.extract(""); only) {
    if (model.inputs().size() != 1)
      throw std::runtime_error("the model has " + std::to_string(model.inputs().size()) +
                               " inputs: --input needs a name, as in --input NAME=" + only.mapped());
    files[model.inputs()[0].name] = only.mapped();
  }
  Inputs inputs;
  for (const tessera::ModelValue& input : model.inputs()) {
    const auto file = files.extract(input.name);
    if (!file) {
      std::printf("input %s is made up\n", input.to_string().c_str());
      inputs[input.name] = made_up(input, options);
    } else {
      inputs[input.name] =
          is_npy(file.mapped()) ? from_npy(input, options, file.mapped()) : from_picture(input, options, file.mapped());
    }
  }
  if (!files.empty()) throw std::runtime_error("the model has no input '" + files.begin()->first + "'");
  return inputs;
}

std::map<std::string, Shape> sizes_of(const Inputs& inputs) {
  std::map<std::string, Shape> sizes;
  for (const auto& [name, elements] : inputs) sizes.emplace(name, elements.shape);
  return sizes;
}

std::map<std::string, Shape> sizes_of(const tessera::Model& model, const Options& options) {
  std::map<std::string, Shape> sizes;
  for (const tessera::ModelValue& input : model.inputs())
    if (input.shape) sizes.emplace(input.name, shape_of(input, options, nullptr));
  return sizes;
}

std::map<std::string, tessera::Tensor> on(tessera::Context& context, const Inputs& inputs) {
  std::map<std::string, tessera::Tensor> tensors;
  for (const auto& [name, elements] : inputs) tensors.emplace(name, elements.on(context).compute());
  return tensors;
}

}  // namespace command
