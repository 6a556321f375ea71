// Views of hosts' textures.
//
// Frames use the same few textures, so the views of the last runs are kept, and with them the bind groups that have
// them. A view keeps its texture alive: those of earlier runs go, since a host may have let go of its texture.
#pragma once
#include <memory>
#include <map>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/host_pass.h"

namespace tessera::webgpu {

class HostViews {
 public:
  explicit HostViews(std::shared_ptr<BindGroups> bind_groups) : bind_groups_(std::move(bind_groups)) {}

  BoundView get(const TextureSlice&);  // stays until end_run() or clear()

  // Whether Dawn has let the texture pass for this use before: while there is a view of it, it is the same texture.
  enum class Use { source, target };
  bool was_checked(const TextureSlice&, Use) const;
  void note_checked(const TextureSlice&, Use);
  void end_run();
  void clear();

 private:
  static constexpr std::uint64_t kept_runs = 8;
  struct Entry {
    Handle<WGPUTextureView> view;
    std::uint64_t id = 0, last_run = 0;
    bool is_source = false, is_target = false;  // has been checked to be one
  };

  std::shared_ptr<BindGroups> bind_groups_;
  std::map<TextureSlice, Entry> entries_;
  std::uint64_t runs_ = 0;
};

}  // namespace tessera::webgpu
