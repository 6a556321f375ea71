// The work of a dispatch, for people: in reports, traces and debuggers.
#pragma once
#include <string_view>

#include "core/kernel/backend.h"

namespace tessera {

std::string_view label_of(const Dispatch&);  // valid as long as the dispatch's kernel

}  // namespace tessera
