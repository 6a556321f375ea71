// The backends of this build, and which of them a context gets.
#include <algorithm>
#include <cmath>
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

// A device that may be taken.
struct Candidate {
  FoundDevice device;
  DeviceState state{};  // asked for where the preference depends on it, since that takes a while
};

bool depends_on_state(const DevicePreference& wanted) {
  return wanted.order != DevicePreference::Order::best || wanted.min_memory_free > 0 || wanted.max_load < 1;
}

// Lower comes first.
double rank_of(const DeviceState& state, DevicePreference::Order order) {
  constexpr double unknown = 2;  // after all that is known, which is a part of 1
  if (order == DevicePreference::Order::best) return unknown;
  if (order == DevicePreference::Order::least_load) return state.load.value_or(unknown);
  if (!state.memory_total || !state.memory_free || *state.memory_total == 0) return unknown;
  return 1 - static_cast<double>(*state.memory_free) / static_cast<double>(*state.memory_total);
}

std::string_view why_taken(DevicePreference::Order order) {
  switch (order) {
    case DevicePreference::Order::least_memory_used: return "of those that are wanted it has the least memory used";
    case DevicePreference::Order::least_load: return "of those that are wanted it has the least load";
    default: return "it is the best one that is wanted";
  }
}

std::string percent(double part) { return std::to_string(std::lround(part * 100)) + " %"; }

// Empty where nothing speaks against it.
std::string why_not(const Candidate& candidate, const DevicePreference& wanted, const std::string& driver) {
  using Kind = DevicePreference::Kind;
  const auto& [where, info, refusal] = candidate.device;
  const DeviceState& state = candidate.state;
  if (!refusal.empty()) return refusal;
  if (wanted.kind == Kind::hardware && info.is_software) return "it is software, but hardware is wanted";
  if (wanted.kind == Kind::software && !info.is_software) return "it is hardware, but software is wanted";
  if (!contains_ignoring_case(info.name, driver) && !contains_ignoring_case(info.driver, driver))
    return "\"" + driver + "\" is not in its name or driver";
  if (state.memory_free && *state.memory_free < wanted.min_memory_free)
    return "it has " + megabytes(*state.memory_free) + " free, but " + megabytes(wanted.min_memory_free) +
           " are wanted";
  if (state.load && *state.load > wanted.max_load)
    return "its load is " + percent(*state.load) + ", but " + percent(wanted.max_load) + " at most is wanted";
  return {};
}

std::string name_of(const FoundDevice& device) {
  const DeviceInfo& info = device.info;
  return device.refusal.empty() ? info.name + " (" + info.driver + ")" : device.where;
}

// Opens the device of a backend that the options prefer. Throws not_found with what there is.
std::unique_ptr<Backend> open_preferred(BackendKind kind, const BackendFactory& factory, const DevicePreference& wanted,
                                        const std::string& driver, const MessageSink& messages) {
  std::vector<Candidate> candidates;
  std::string unusable, unwanted;
  const auto tell = [&](const char* does, const FoundDevice& device, std::string_view why) {
    messages.debug([&] {
      return "devices: " + std::string(to_string(kind)) + does + name_of(device) + ": " + std::string(why) + ".";
    });
  };
  for (FoundDevice& found : factory.find()) {
    Candidate candidate{std::move(found)};
    if (candidate.device.refusal.empty() && depends_on_state(wanted))
      candidate.state = device_state(candidate.device.info);
    const std::string why = why_not(candidate, wanted, driver);
    if (why.empty()) {
      candidates.push_back(std::move(candidate));
      continue;
    }
    tell(" passes over ", candidate.device, why);
    std::string& others = candidate.device.refusal.empty() ? unwanted : unusable;
    others += (others.empty() ? "" : "; ") + name_of(candidate.device) + ": " + why;
  }
  if (candidates.empty())
    throw Error(ErrorCode::not_found,
                unwanted.empty() ? "it has no device that can be used: " + unusable + ". " + std::string(factory.advice)
                                 : "none of its devices is wanted: " + unwanted + ".");
  const auto chosen = std::ranges::min_element(
      candidates, {}, [&](const Candidate& candidate) { return rank_of(candidate.state, wanted.order); });
  for (auto other = candidates.begin(); other != candidates.end(); ++other)
    if (other != chosen) tell(" passes over ", other->device, "another one is preferred");
  tell(" takes ", chosen->device, why_taken(wanted.order));
  return factory.create(chosen->device, messages);
}

}  // namespace

DeviceState Context::device_state() const { return tessera::device_state(device()); }

std::vector<DeviceInfo> Context::devices() {
  std::vector<DeviceInfo> all;
  for (const BackendKind kind : {BackendKind::webgpu, BackendKind::gles, BackendKind::cpu}) {
    const auto factory = factory_of(kind);
    if (!factory) continue;
    for (FoundDevice& found : factory->find()) {
      if (!found.refusal.empty()) continue;
      found.info.state = tessera::device_state(found.info);
      all.push_back(std::move(found.info));
    }
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
    if (const auto factory = factory_of(kind)) {
      try {
        auto backend = open_preferred(kind, *factory, options.device, is_last_resort ? "" : options.driver, messages);
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
