// The backends of this build, their adapters, and the choice of one for a context.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/platform/device_state.h"
#include "core/platform/driver_start.h"
#include "core/run/context_impl.h"

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

// A place where a backend has looked for an adapter.
struct SearchedPlace {
  std::string name;
  std::unique_ptr<const Adapter> adapter;  // null where none can be used
  std::string refusal;                     // the reason
};

SearchedPlace search(const AdapterPlace& place) {
  try {
    return {place.name, place.start(), {}};
  } catch (const std::exception& error) {  // of the standard library too: other adapters may work
    return {place.name, nullptr, error.what()};
  }
}

int rank_of(const SearchedPlace& place) {
  constexpr int software = 10, none = 20;
  return !place.adapter ? none : place.adapter->rank + (place.adapter->info.is_software ? software : 0);
}

struct Candidate {
  const SearchedPlace* place;
  DeviceState state{};  // only where the preference depends on it, since asking takes a while
};

bool depends_on_state(const DevicePreference& preference) {
  return preference.order != DevicePreference::Order::best || preference.min_memory_free > 0 || preference.max_load < 1;
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

// The reason against the candidate; empty where there is none.
std::string why_not(const Candidate& candidate, const DevicePreference& preference, const std::string& driver) {
  using Kind = DevicePreference::Kind;
  const DeviceState& state = candidate.state;
  if (!candidate.place->adapter) return candidate.place->refusal;
  const DeviceInfo& info = candidate.place->adapter->info;
  if (preference.kind == Kind::hardware && info.is_software) return "it is software, but hardware is wanted";
  if (preference.kind == Kind::software && !info.is_software) return "it is hardware, but software is wanted";
  if (!contains_ignoring_case(info.name, driver) && !contains_ignoring_case(info.driver, driver))
    return "\"" + driver + "\" is not in its name or driver";
  if (state.memory_free && *state.memory_free < preference.min_memory_free)
    return "it has " + megabytes(*state.memory_free) + " free, but " + megabytes(preference.min_memory_free) +
           " are wanted";
  if (state.load && *state.load > preference.max_load)
    return "its load is " + percent(*state.load) + ", but " + percent(preference.max_load) + " at most is wanted";
  return {};
}

std::string name_of(const SearchedPlace& place) {
  return place.adapter ? place.adapter->info.name + " (" + place.adapter->info.driver + ")" : place.name;
}

// Every place of a backend, the best adapters first. Searches the places that this process has not searched yet.
std::vector<const SearchedPlace*> searched_places(const BackendFactory& factory) {
  const std::lock_guard lock(driver_start_lock());
  static auto& searched = *new std::map<std::string, SearchedPlace>;
  std::vector<const SearchedPlace*> places;
  for (const AdapterPlace& place : factory.places()) {
    auto entry = searched.find(place.name);
    if (entry == searched.end()) entry = searched.emplace(place.name, search(place)).first;
    places.push_back(&entry->second);
  }
  std::ranges::stable_sort(places, {}, [](const SearchedPlace* place) { return rank_of(*place); });
  return places;
}

// Opens the adapter that the options prefer; `driver` is part of its name or of its driver's. Throws not_found with the
// reasons against each adapter.
std::unique_ptr<Backend> open_preferred(BackendKind kind, const BackendFactory& factory, const ContextOptions& options,
                                        const std::string& driver, const MessageSink& messages) {
  const DevicePreference& preference = options.device;
  std::vector<Candidate> candidates;
  std::string unusable, unwanted;
  const auto tell = [&](const char* does, const SearchedPlace& place, std::string_view why) {
    messages.debug([&] {
      return "devices: " + std::string(to_string(kind)) + does + name_of(place) + ": " + std::string(why) + ".";
    });
  };
  for (const SearchedPlace* place : searched_places(factory)) {
    Candidate candidate{place};
    if (place->adapter && depends_on_state(preference)) {
      // A device that was found in two ways is asked once: the first way is the better one.
      const auto known = std::ranges::find_if(candidates, [&](const Candidate& other) {
        return other.place->adapter->info.name == place->adapter->info.name;
      });
      candidate.state = known != candidates.end() ? known->state : device_state(place->adapter->info);
    }
    const std::string why = why_not(candidate, preference, driver);
    if (why.empty()) {
      candidates.push_back(candidate);
      continue;
    }
    tell(" passes over ", *place, why);
    std::string& reasons = place->adapter ? unwanted : unusable;
    reasons += (reasons.empty() ? "" : "; ") + name_of(*place) + ": " + why;
  }
  if (candidates.empty())
    throw Error(ErrorCode::not_found,
                unwanted.empty() ? "it has no device that can be used: " + unusable + ". " + std::string(factory.advice)
                                 : "none of its devices is wanted: " + unwanted + ".");
  const auto chosen = std::ranges::min_element(
      candidates, {}, [&](const Candidate& candidate) { return rank_of(candidate.state, preference.order); });
  for (const Candidate& candidate : candidates)
    if (&candidate != &*chosen) tell(" passes over ", *candidate.place, "another one is preferred");
  tell(" takes ", *chosen->place, why_taken(preference.order));
  return chosen->place->adapter->open(options, messages);
}

}  // namespace

DeviceState Context::device_state() const { return tessera::device_state(device()); }

std::vector<DeviceInfo> Context::devices() {
  std::vector<DeviceInfo> infos;
  for (const BuiltBackend& built : built_backends)
    for (const SearchedPlace* place : searched_places(built.factory()))
      if (place->adapter) {
        infos.push_back(place->adapter->info);
        infos.back().state = tessera::device_state(infos.back());
      }
  return infos;
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
        auto backend = open_preferred(kind, built->factory(), options, is_last_resort ? "" : options.driver, messages);
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
