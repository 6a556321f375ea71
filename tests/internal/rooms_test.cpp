// The rooms of core, lowest first: a file includes files of its own room and of lower ones. Only platform calls the
// operating system, and only run/backends.cpp knows that there are backends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> rooms{"base", "platform", "kernel", "memory", "graph",
                                                "run",  "interop",  "ops",    "hub"};
constexpr std::array<std::string_view, 8> headers_of_the_system{"dlfcn.h",  "fcntl.h",  "malloc.h", "poll.h",
                                                                "signal.h", "unistd.h", "link.h",   "sys/"};

struct Include {
  fs::path file;  // from the folder core
  std::string name;
  bool is_of_the_system;  // in angle brackets
};

std::string first_folder(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

// The place of a folder of core among the rooms; beyond the last one where it is none.
std::size_t level_of(std::string_view folder) {
  return static_cast<std::size_t>(std::ranges::find(rooms, folder) - rooms.begin());
}

std::vector<Include> includes_of_core() {
  const fs::path core = fs::path(TESSERA_SOURCE_FOLDER) / "core";
  std::vector<Include> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(core)) {
    const fs::path file = fs::relative(entry.path(), core);
    if (!entry.is_regular_file() || first_folder(file.string()) == "include") continue;
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view directive = "#include ";
      if (!line.starts_with(directive)) continue;
      const char opening = line[directive.size()];
      const std::size_t begin = directive.size() + 1, end = line.find(opening == '<' ? '>' : '"', begin);
      all.push_back({file, line.substr(begin, end - begin), opening == '<'});
    }
  }
  return all;
}

TEST(Rooms, HaveAllFilesOfCore) {
  const std::vector<Include> includes = includes_of_core();
  EXPECT_GT(includes.size(), 300u);
  for (const Include& include : includes)
    EXPECT_LT(level_of(first_folder(include.file.string())), rooms.size())
        << "core/" << include.file.string() << " is in no room.";
}

TEST(Rooms, IncludeOnlyLowerOnes) {
  for (const auto& [file, name, is_of_the_system] : includes_of_core()) {
    if (!name.starts_with("core/")) continue;
    const std::string own = first_folder(file.string()), other = first_folder(name.substr(5));
    EXPECT_LE(level_of(other), level_of(own))
        << "core/" << file.string() << ", in the room " << own << ", includes " << name << ", which is above it.";
  }
}

TEST(Rooms, OnlyPlatformCallsTheOperatingSystem) {
  for (const Include& include : includes_of_core()) {
    const std::string& name = include.name;
    if (!include.is_of_the_system || first_folder(include.file.string()) == "platform") continue;
    EXPECT_TRUE(
        std::ranges::none_of(headers_of_the_system, [&](std::string_view header) { return name.starts_with(header); }))
        << "core/" << include.file.string() << " includes <" << name << ">, which is for core/platform.";
    EXPECT_FALSE(name.starts_with("webgpu/") || name.starts_with("glad/") || name.starts_with("EGL/"))
        << "core/" << include.file.string() << " includes <" << name << ">: core knows no GPU API.";
  }
}

TEST(Rooms, OnlyOneFileKnowsTheBackends) {
  for (const auto& [file, name, is_of_the_system] : includes_of_core())
    EXPECT_TRUE(!name.starts_with("backend_") || file == fs::path("run/backends.cpp"))
        << "core/" << file.string() << " includes " << name << ".";
}

}  // namespace
}  // namespace tessera::test
