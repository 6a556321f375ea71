// The operations that the public headers declare, for the check that docs/ops.md has a row for each.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace tessera::docs {

// By header, "tessera/scan.h": the names, "cumsum" or "operator+", of the functions that take or give a Tensor, and of
// Tensor's and Context's members that give one. `folder` is that of tessera.h, whose headers count.
std::map<std::string, std::set<std::string>> declared_ops(const std::filesystem::path& folder);

}  // namespace tessera::docs
