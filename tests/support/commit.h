// Choices of random tests follow from the commit: they change with it, and can be repeated.
#pragma once
#include <cstdint>
#include <string>

namespace tessera::test {

std::string commit();                            // of the sources; "1" where they do not come from git
std::uint64_t hash_of(const std::string& text);  // the same everywhere

}  // namespace tessera::test
