// Programs: one triangle over the whole viewport, and a fragment shader.
#pragma once
#include <memory>
#include <string>

#include "backend_gles/handle.h"

namespace tessera::gles {

struct Linked {
  Program program;
  bool is_from_cache;  // on disk: the driver had nothing to compile
};

// A program that the device's cache has, or else the driver compiles. The context is current in every call.
class Linking {
 public:
  Linking(std::shared_ptr<const Device>, const std::string& fragment_text, std::string what);  // `what` is for people

  bool is_done() const;  // false: finish() would wait for a driver that compiles beside its caller, and tells
  Linked finish();       // once. Throws compile_failed with the driver's words
  const std::string& fragment_text() const { return fragment_text_; }
  const Compilation& compilation() const { return compilation_; }

 private:
  Program from_cache() const;  // none where the cache has nothing that the driver takes
  void start_compiling();
  [[noreturn]] void fail() const;
  void keep() const;

  std::shared_ptr<const Device> device_;
  Compilation compilation_;
  std::string vertex_text_, fragment_text_, what_;
  Shader vertex_shader_, fragment_shader_;
  Program program_;
  bool is_from_cache_;
};

}  // namespace tessera::gles
