// The backends of this build, and which of them a context gets.
#include <algorithm>

#include "core/adapters.h"
#include "core/context_impl.h"
#include "core/device_state.h"

namespace tessera {
namespace {

struct BuiltBackend {
  BackendKind kind;
  BackendFactory (*factory)();
};
constexpr BuiltBackend built_backends[] = {
#if TESSERA_HAS_WEBGPU
    {BackendKind::webgpu, webgpu::factory},
#endif
#if TESSERA_HAS_GLES
    {BackendKind::gles, gles::factory},
#endif
    {BackendKind::cpu, cpu::factory},
};

}  // namespace

DeviceState Context::device_state() const { return tessera::device_state(device()); }

std::vector<DeviceInfo> Context::devices() {
  std::vector<DeviceInfo> all;
  for (const BuiltBackend& built : built_backends)
    for (const SearchedPlace* place : searched_places(built.factory()))
      if (place->adapter) {
        all.push_back(place->adapter->info);
        all.back().state = tessera::device_state(all.back());
      }
  return all;
}

std::unique_ptr<Backend> open_backend(const ContextOptions& options, const MessageSink& messages) {
  if (options.prefer.empty())
    throw Error(ErrorCode::invalid_argument, "create: the list of preferred backends is empty.");
  std::string reasons;
  const bool has_last_resort = options.prefer.size() > 1 && options.prefer.back() == BackendKind::cpu;
  for (std::size_t i = 0; i < options.prefer.size(); ++i) {
    const BackendKind kind = options.prefer[i];
    const bool is_last_resort = has_last_resort && i + 1 == options.prefer.size();
    std::string reason;
    if (const auto built = std::ranges::find(built_backends, kind, &BuiltBackend::kind);
        built != std::end(built_backends)) {
      try {
        auto backend =
            open_preferred(kind, built->factory(), options.device, is_last_resort ? "" : options.driver, messages);
        if (!reasons.empty())
          messages(Message::Level::warning, "create: using " + backend->device().name + ", because" + reasons);
        return backend;
      } catch (const Error& error) {
        reason = error.what();
      }
    } else {
      reason = "this build of tessera leaves it out.";
    }
    reasons += (reasons.empty() ? " " : "\n  ") + std::string(to_string(kind)) + ": " + reason;
  }
  throw Error(ErrorCode::not_found, "create: no device could be opened." + reasons);
}

}  // namespace tessera
