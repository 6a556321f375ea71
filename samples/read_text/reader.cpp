#include "reader.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <tuple>

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

std::pair<std::string, double> text_of(const Steps& steps, const std::vector<std::string>& characters) {
  // The network has seen few spaces: between words it holds none for more likely than one, mostly, but far more so
  // than between letters. All steps of a gap together have to come to this.
  constexpr double likely_enough = 1.0 / 16;
  const auto space = static_cast<std::int32_t>(characters.size()) - 1;
  std::string text;
  double gap = 0, total = 0, count = 0;
  for (std::size_t k = 0; k < steps.characters.size(); ++k) {
    const std::int32_t character = steps.characters[k];
    if (character <= 0 || character >= space) {
      gap += static_cast<double>(steps.spaces[k]);
    } else if (k == 0 || character != steps.characters[k - 1]) {  // equal neighbours are one character
      if (gap >= likely_enough && !text.empty()) text += ' ';
      gap = 0;
      text += characters[static_cast<std::size_t>(character)];
      total += static_cast<double>(steps.scores[k]), ++count;
    }
  }
  return {text, count > 0 ? total / count : 0};
}

std::vector<Line> TextReader::operator()(const Tensor& image) {
  std::vector<Line> lines;
  struct Results {
    Tensor best, scores, spaces;
  };
  std::vector<Results> results;
  std::vector<Tensor> all;
  image.compute();
  for (const TextBox& box : boxes_in(image)) {
    const Tensor scores = scores_of(image, box);  // [steps,characters]
    const std::int64_t space = static_cast<std::int64_t>(characters_.size()) - 1;
    results.push_back({argmax(scores, 1), max(scores, {.axes = {1}}), slice(scores, {0, space}, {-1, 1})});
    all.insert(all.end(), {results.back().best, results.back().scores, results.back().spaces});
    lines.push_back({.box = box, .text = "", .confidence = 0});
  }
  gpu_.compute(all);
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::tie(lines[i].text, lines[i].confidence) = text_of(
        {results[i].best.read<std::int32_t>(), results[i].scores.read(), results[i].spaces.read()}, characters_);
  std::erase_if(lines, [](const Line& line) { return line.confidence < 0.5; });
  return lines;
}
