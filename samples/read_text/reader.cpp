#include "reader.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include <tessera/tessera.h>

using namespace tessera;

namespace {

constexpr double longest_side = 960;  // of the image that is searched for lines
constexpr int line_height = 48;       // as the recogniser was trained
constexpr int step = 32;              // sides are multiples of it: few Programs do for all lines
constexpr int longest_line = 40 * step;

int rounded_up(double size) { return std::max(1, static_cast<int>(std::ceil(size / step))) * step; }

// [height,width,3] as both networks want it: blue first, channels first, in a batch of one.
Tensor as_input(const Tensor& image) { return transpose(expand_dims(reverse(image, {2})), {0, 3, 1, 2}); }

Tensor output_of(const Model& network, const Tensor& input) {
  return network({{network.inputs()[0].name, input}})[network.outputs()[0].name];
}

}  // namespace

TextReader::TextReader(Context& gpu, const std::filesystem::path& folder)
    : gpu_(gpu),
      detector_(Model::load(gpu, folder / "detector.onnx")),
      recogniser_(Model::load(gpu, folder / "recogniser.onnx")),
      characters_{""} {  // which stands between two equal ones
  std::ifstream file(folder / "characters.txt");
  for (std::string line; std::getline(file, line);) characters_.push_back(line);
  if (characters_.size() < 2) throw std::runtime_error((folder / "characters.txt").string() + " has no characters");
  characters_.push_back(" ");
}

std::vector<TextBox> TextReader::boxes_in(const Tensor& image) {
  const auto height = static_cast<double>(image.shape()[0]), width = static_cast<double>(image.shape()[1]);
  const double scale = std::min(1.0, longest_side / std::max(height, width));
  const int rows = rounded_up(height * scale), columns = rounded_up(width * scale);
  const Tensor mean = gpu_.tensor({3}, {0.485f, 0.456f, 0.406f}),
               deviation = gpu_.tensor({3}, {0.229f, 0.224f, 0.225f});
  const Tensor blue_first = reverse(resize_bilinear(image, rows, columns), {2});
  const Tensor input = transpose(expand_dims((blue_first - mean) / deviation), {0, 3, 1, 2});
  std::vector<TextBox> boxes = find_boxes(output_of(detector_, input).read(), columns, rows);
  const double x = width / columns, y = height / rows;
  for (TextBox& box : boxes) {  // slanted ones keep their slant, for both scales are nearly the same
    box.centre = {box.centre.x * x, box.centre.y * y};
    box.width *= x, box.height *= y;
  }
  return boxes;
}

// The line is cut out of the image, turned level and scaled, in one kernel.
Tensor TextReader::scores_of(const Tensor& image, const TextBox& box) const {
  const double scale = box.height / line_height;
  const int width = std::clamp(static_cast<int>(std::lround(box.width / scale)), 1, longest_line);
  const double across = box.width / width;
  const Point corner = box.corners()[0], u = box.direction;
  // Pixel (i,j) of the line lies (i + 0.5) * across along the text and (j + 0.5) * scale below its upper edge.
  const std::array<float, 6> place{static_cast<float>(u.x * across),
                                   static_cast<float>(-u.y * scale),
                                   static_cast<float>(corner.x + (u.x * across - u.y * scale) / 2 - 0.5),
                                   static_cast<float>(u.y * across),
                                   static_cast<float>(u.x * scale),
                                   static_cast<float>(corner.y + (u.y * across + u.x * scale) / 2 - 0.5)};
  const Tensor line = affine_transform(image, place, {.height = line_height, .width = width, .fill = {1}});
  const Tensor level = pad(line * 2.0f - 1.0f, {{}, {0, rounded_up(width) - width}, {}});
  return squeeze(output_of(recogniser_, as_input(level)), {0});
}

std::vector<Line> TextReader::operator()(const Tensor& image) {
  std::vector<Line> lines;
  std::vector<Tensor> which, how_sure, all;
  image.compute();
  for (const TextBox& box : boxes_in(image)) {
    const Tensor scores = scores_of(image, box);
    which.push_back(argmax(scores, 1)), how_sure.push_back(max(scores, {.axes = {1}}));
    all.insert(all.end(), {which.back(), how_sure.back()});
    lines.push_back({.box = box, .text = "", .confidence = 0});
  }
  gpu_.compute(all);
  for (std::size_t i = 0; i < lines.size(); ++i) {  // equal neighbours are one character
    const std::vector<std::int32_t> characters = which[i].read<std::int32_t>();
    const std::vector<float> scores = how_sure[i].read();
    double count = 0;
    for (std::size_t k = 0; k < characters.size(); ++k) {
      const auto character = static_cast<std::size_t>(characters[k]);
      if (character == 0 || character >= characters_.size() || (k > 0 && characters[k] == characters[k - 1])) continue;
      lines[i].text += characters_[character];
      lines[i].confidence += static_cast<double>(scores[k]), ++count;
    }
    if (count > 0) lines[i].confidence /= count;
  }
  std::erase_if(lines, [](const Line& line) { return line.confidence < 0.5; });
  return lines;
}
