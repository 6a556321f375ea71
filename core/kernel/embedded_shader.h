// The files of shaders_wgsl and shaders_glsl, embedded at build time: embedded_shader("map.wgsl").
#pragma once
#include <string_view>

namespace tessera {

std::string_view embedded_shader(std::string_view name);  // empty where there is no such file

}  // namespace tessera
