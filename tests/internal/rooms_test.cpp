// The rooms of core, lowest first: a file includes files of its own room and of lower ones. Only the folders of
// platforms call an operating system or a browser, and only run/backends.cpp knows that there are backends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test::rooms_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> rooms{"base", "platform", "kernel", "memory", "graph",
                                                "run",  "interop",  "ops",    "hub"};
constexpr std::array<std::string_view, 3> platforms{"posix", "windows", "web"};
constexpr std::array headers_of_a_system{
    "dlfcn.h",   "elf.h",    "fcntl.h",   "link.h",    "malloc.h", "poll.h",   "pthread.h", "sched.h",
    "signal.h",  "stdlib.h", "strings.h", "sys/",      "time.h",   "unistd.h", "mach/",     "mach-o/",
    "windows.h", "direct.h", "io.h",      "process.h", "psapi.h",  "winreg.h", "share.h",   "emscripten",
};

struct Include {
  fs::path file;  // from the folder core, or from the one that has core
  std::string name;
  bool is_of_the_system;  // in angle brackets
};

std::string first_folder(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

// The place of a folder of core among the rooms; beyond the last one where it is none.
std::size_t level_of(std::string_view folder) {
  return static_cast<std::size_t>(std::ranges::find(rooms, folder) - rooms.begin());
}

std::vector<Include> includes_of(const fs::path& folder, const fs::path& named_from) {
  std::vector<Include> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path file = fs::relative(entry.path(), named_from);
    if (!entry.is_regular_file()) continue;
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

const fs::path source_folder = TESSERA_SOURCE_FOLDER;

std::vector<Include> includes_of_core() {
  std::vector<Include> all = includes_of(source_folder / "core", source_folder / "core");
  std::erase_if(all, [](const Include& include) { return first_folder(include.file.string()) == "include"; });
  return all;
}

bool is_of_a_platform(const fs::path& file) {
  if (first_folder(file.string()).starts_with("backend_")) return file.parent_path().filename() == "web";
  return std::ranges::any_of(
      platforms, [&](std::string_view name) { return file.parent_path() == fs::path("core/platform") / name; });
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

TEST(Rooms, OnlyFoldersOfPlatformsCallAnOperatingSystem) {
  std::size_t calls = 0;
  for (const char* part : {"core", "backend_cpu", "backend_gles", "backend_webgpu", "models"})
    for (const Include& include : includes_of(source_folder / part, source_folder)) {
      if (!include.is_of_the_system) continue;
      const bool is_call = std::ranges::any_of(headers_of_a_system,
                                               [&](const char* header) { return include.name.starts_with(header); });
      EXPECT_TRUE(!is_call || is_of_a_platform(include.file))
          << include.file.string() << " includes <" << include.name << ">, which is for a folder of core/platform.";
      calls += is_call ? 1 : 0;
    }
  EXPECT_GT(calls, 10u);  // those of the platforms' own
}

TEST(Rooms, CoreKnowsNoGraphicsApi) {
  for (const Include& include : includes_of_core())
    EXPECT_FALSE(include.is_of_the_system && (include.name.starts_with("webgpu/") ||
                                              include.name.starts_with("glad/") || include.name.starts_with("EGL/")))
        << "core/" << include.file.string() << " includes <" << include.name << ">.";
}

TEST(Rooms, OnlyOneFileKnowsTheBackends) {
  for (const auto& [file, name, is_of_the_system] : includes_of_core())
    EXPECT_TRUE(!name.starts_with("backend_") || file == fs::path("run/backends.cpp"))
        << "core/" << file.string() << " includes " << name << ".";
}

}  // namespace
}  // namespace tessera::test::rooms_test
