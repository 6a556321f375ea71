#include "backend_webgpu/host_texture.h"

#include <sstream>

namespace tessera::webgpu {

SourceType SourceType::of(const std::string& text) {
  std::istringstream parts(text);
  SourceType type;
  parts >> type.sampled >> type.components;
  return type;
}

std::string TargetType::text() const {
  return std::to_string(format) + (is_drawn ? " drawn" : " stored") + (is_flipped ? " flipped" : " upright");
}

TargetType TargetType::of(const std::string& text) {
  std::istringstream parts(text);
  int format = 0;
  std::string way, direction;
  parts >> format >> way >> direction;
  return {static_cast<WGPUTextureFormat>(format), way == "drawn", direction == "flipped"};
}

}  // namespace tessera::webgpu
