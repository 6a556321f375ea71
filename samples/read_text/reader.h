// Text in pictures, by two networks of PP-OCR: one finds lines, the other reads them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "boxes.h"
#include <tessera/model.h>

struct Line {
  TextBox box;  // in pixels of the picture
  std::string text;
  double confidence;
};

// The recogniser's steps along a line: the most likely character of each, which is none where it is 0, how likely it
// is, and how likely a space.
struct Steps {
  std::vector<std::int32_t> characters;
  std::vector<float> scores, spaces;
};
// The text, and the mean of its characters' scores. The last of `characters` is the space.
std::pair<std::string, double> text_of(const Steps&, const std::vector<std::string>& characters);

class TextReader {
 public:
  // The folder has detector.onnx, recogniser.onnx and characters.txt.
  TextReader(tessera::Context&, const std::filesystem::path& folder);

  // Of an image [height,width,3] of 0 to 1.
  std::vector<Line> operator()(const tessera::Tensor& image);

 private:
  std::vector<TextBox> boxes_in(const tessera::Tensor& image);
  tessera::Tensor scores_of(const tessera::Tensor& image, const TextBox&) const;  // [steps,characters]

  tessera::Context gpu_;
  tessera::Model detector_, recogniser_;
  std::vector<std::string> characters_;
};
