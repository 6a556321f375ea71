// The backends of this build, and which of them a context gets.
#include <algorithm>
#include <optional>

#include "backend_cpu/cpu_backend.h"
#include "core/context_impl.h"
#include "core/device_state.h"
#include "core/driver_start.h"
#if TESSERA_HAS_WEBGPU
#include "backend_webgpu/webgpu_backend.h"
#endif
#if TESSERA_HAS_GLES
#include "backend_gles/gles_backend.h"
#endif

namespace tessera {
namespace {

// Nothing where the build leaves the backend out.
std::optional<BackendFactory> factory_of(BackendKind kind) {
  switch (kind) {
#if TESSERA_HAS_WEBGPU
    case BackendKind::webgpu: return webgpu::factory();
#endif
#if TESSERA_HAS_GLES
    case BackendKind::gles: return gles::factory();
#endif
    case BackendKind::cpu: return cpu::factory();
    default: return std::nullopt;
  }
}

// Lower comes first.
double rank_of(const DeviceInfo& device, DevicePreference::Order order) {
  constexpr double unknown = 2;  // after all that is known, which is a part of 1
  const DeviceState state = device_state(device);
  if (order == DevicePreference::Order::least_load) return state.load.value_or(unknown);
  if (!state.memory_total || !state.memory_free || *state.memory_total == 0) return unknown;
  return 1 - static_cast<double>(*state.memory_free) / static_cast<double>(*state.memory_total);
}

// The driver of the device that the options prefer among those of a backend, so that it is the one that is opened.
std::string preferred_driver(BackendKind kind, const BackendFactory& factory, const ContextOptions& options) {
  using Kind = DevicePreference::Kind;
  using Order = DevicePreference::Order;
  const Kind wanted = options.device.kind;
  const Order order = options.device.order;
  if (wanted == Kind::any && order == Order::best) return options.driver;
  std::vector<DeviceInfo> devices = factory.devices();
  if (devices.empty()) return options.driver;  // opening it tells why
  std::string there_is;
  for (const DeviceInfo& device : devices) there_is += (there_is.empty() ? "" : "; ") + device.name;
  std::erase_if(devices, [&](const DeviceInfo& device) {
    return (wanted == Kind::hardware && device.is_software) || (wanted == Kind::software && !device.is_software) ||
           (!contains_ignoring_case(device.name, options.driver) &&
            !contains_ignoring_case(device.driver, options.driver));
  });
  if (devices.empty())
    throw Error(ErrorCode::not_found,
                std::string(to_string(kind)) + " has no " +
                    (wanted == Kind::hardware   ? "hardware "
                     : wanted == Kind::software ? "software "
                                                : "") +
                    "device" +
                    (options.driver.empty() ? "" : " with \"" + options.driver + "\" in its name or driver") +
                    "; there is: " + there_is + ".");
  if (order == Order::best) return devices.front().driver;
  std::vector<double> ranks;
  for (const DeviceInfo& device : devices) ranks.push_back(rank_of(device, order));
  return devices[static_cast<std::size_t>(std::ranges::min_element(ranks) - ranks.begin())].driver;
}

}  // namespace

DeviceState Context::device_state() const { return tessera::device_state(device()); }

std::vector<DeviceInfo> Context::devices() {
  std::vector<DeviceInfo> all;
  for (const BackendKind kind : {BackendKind::webgpu, BackendKind::gles, BackendKind::cpu}) {
    const auto factory = factory_of(kind);
    if (!factory) continue;
    for (DeviceInfo& device : factory->devices()) {
      device.state = tessera::device_state(device);
      all.push_back(std::move(device));
    }
  }
  return all;
}

std::unique_ptr<Backend> open_backend(const ContextOptions& options, const MessageSink& sink) {
  if (options.prefer.empty())
    throw Error(ErrorCode::invalid_argument, "create: the list of preferred backends is empty.");
  std::string reasons;
  for (const BackendKind kind : options.prefer) {
    std::string reason;
    if (const auto factory = factory_of(kind)) {
      try {
        auto backend = factory->create(preferred_driver(kind, *factory, options), sink);
        if (!reasons.empty())
          sink(Message::Level::warning, "create: using " + backend->device().name + ", because" + reasons);
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
