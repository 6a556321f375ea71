// The adapters of a backend, and which of them a context gets.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/backend.h"

namespace tessera {

// A place where a backend has looked for an adapter.
struct SearchedPlace {
  std::string name;
  std::unique_ptr<const Adapter> adapter;  // null where there is none that can be used
  std::string refusal;                     // the reason
};

// Every place of a backend, those with the best adapters first. Starts what has not been started in this process.
std::vector<const SearchedPlace*> searched_places(const BackendFactory&);

// Opens the adapter that the options prefer; `driver` is part of its name or its driver's. Throws not_found with the
// reasons against each of them.
std::unique_ptr<Backend> open_preferred(BackendKind, const BackendFactory&, const DevicePreference&,
                                        const std::string& driver, const MessageSink&);

}  // namespace tessera
