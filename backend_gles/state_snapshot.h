// All of a context's state, to prove that a host's is as it was.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "backend_gles/device.h"

namespace tessera::gles {

class StateSnapshot {
 public:
  explicit StateSnapshot(const Device&);                     // the context is current
  std::string difference(const StateSnapshot& later) const;  // "GL_BLEND was 1, is 0; …"; empty where there is none

 private:
  void add(std::string name, std::vector<GLint> values) { states_.emplace_back(std::move(name), std::move(values)); }
  void add_units(const Device&);
  void add_vertex_array(const Device&);
  void add_indexed_buffers(const Device&);

  std::vector<std::pair<std::string, std::vector<GLint>>> states_;
};

}  // namespace tessera::gles
