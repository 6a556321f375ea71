// Damage to files, for readers that have to survive it.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tessera::test {

inline int mutations_wanted(int otherwise) {
  const char* given = std::getenv("TESSERA_MUTATIONS");
  return given ? std::atoi(given) : otherwise;
}

// Changes a few bytes, cuts, doubles or inserts, by random numbers of a seed.
class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : state_(seed | 1) {}

  std::string mutated(std::string file) {
    for (std::uint64_t changes = 1 + next(4); changes > 0; --changes) {
      if (file.empty()) return file;
      const std::size_t place = next(file.size());
      switch (next(7)) {
        case 0: file[place] = static_cast<char>(next(256)); break;
        case 1: file[place] = static_cast<char>(file[place] ^ 1 << next(8)); break;
        case 2: file.resize(place); break;
        case 3: file.erase(place, 1 + next(8)); break;
        case 4: file.insert(place, 1 + next(4), static_cast<char>(next(256))); break;
        case 5: file.insert(place, file.substr(next(file.size()), next(64))); break;
        default: file[place] = static_cast<char>(next(2) ? 0xff : 0x7f); break;
      }
    }
    return file;
  }

  std::uint64_t next(std::uint64_t limit) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ % limit;
  }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::test
