#include "bench/host_cost/counts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

enum class Side { tessera, runtime, driver };

Side side_of(const std::string& object) {
  const std::string name = fs::path(object).filename().string();
  if (name.starts_with("libtessera") || name.starts_with("host_cost")) return Side::tessera;
  for (const char* runtime : {"libc.so", "libstdc++.so", "libm.so", "libgcc_s.so", "ld-linux"})
    if (name.starts_with(runtime)) return Side::runtime;
  return Side::driver;
}

// Callgrind's format: names are written once, as "(7) name", and are "(7)" from then on.
class Names {
 public:
  const std::string& read(const std::string& text) {
    const std::size_t end = text.find(')');
    std::string& name = names_[text.substr(0, end)];
    if (end + 1 < text.size()) name = text.substr(end + 2);
    return name;
  }

 private:
  std::map<std::string, std::string> names_;
};

Count read_counts(const fs::path& path) {
  std::ifstream file(path);
  Count count{};
  Names objects, functions;
  std::string object, called_object, called;
  bool is_call = false;
  double calls = 0, units = 1;
  std::smatch trigger;
  static const std::regex trigger_format("desc: Trigger: Client Request: (.*) / ([0-9]+)");
  for (std::string line; std::getline(file, line);) {
    const std::string value = line.substr(line.find('=') + 1);
    if (std::regex_match(line, trigger, trigger_format)) {
      count.name = trigger[1];
      units = std::stod(trigger[2]);
    } else if (line.starts_with("ob=")) {
      object = called_object = objects.read(value);
    } else if (line.starts_with("cob=")) {
      called_object = objects.read(value);
    } else if (line.starts_with("fn=")) {
      functions.read(value);
    } else if (line.starts_with("cfn=")) {
      called = functions.read(value);
    } else if (line.starts_with("calls=")) {
      is_call = true;
      calls = std::stod(value);
    } else if (!line.empty() && std::string("0123456789+-*").find(line[0]) != std::string::npos) {
      const std::size_t space = line.find(' ');
      const double cost = space == std::string::npos ? 0 : std::stod(line.substr(space));
      const bool is_ours = side_of(object) == Side::tessera;
      const bool is_allocation = called.starts_with("operator new") || called == "malloc";
      const bool is_free = called.starts_with("operator delete") || called == "free";
      if (is_ours && !is_call) count.tessera += cost;
      // What an allocation costs depends on all that was freed before.
      const bool is_runtime = side_of(called_object) == Side::runtime && !is_allocation && !is_free;
      if (is_ours && is_call && is_runtime) count.tessera += cost;
      if (is_ours && is_call && side_of(called_object) == Side::driver) count.driver += cost;
      if (is_ours && is_call && is_allocation) count.allocations += calls;
      if (is_call) called_object = object;
      is_call = false;
    }
  }
  for (double* each : {&count.tessera, &count.driver, &count.allocations}) *each /= units;
  return count;
}

}  // namespace

std::string why_nothing_is_counted() {
  return std::system("valgrind --version >/dev/null 2>&1") == 0 ? "" : "valgrind is not installed";
}

std::vector<Count> count_instructions(const std::string& program, const std::string& arguments) {
  std::string folder = (fs::temp_directory_path() / "host_cost_XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("cannot make a folder beside " + folder);
  const struct Cleaner {
    const std::string& path;
    ~Cleaner() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } cleaner{folder};
  const std::string command =
      "GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128 valgrind --tool=callgrind -q "
      "--instr-atstart=no --callgrind-out-file=" +
      folder + "/counts " + program + " " + arguments;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("this failed: " + command);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  const auto number = [](const fs::path& path) {  // "counts.7"; the last one has no number, and nothing of interest
    const std::string extension = path.extension().string();
    return extension.empty() ? 0 : std::atoi(extension.c_str() + 1);
  };
  std::ranges::sort(files, {}, number);
  std::vector<Count> counts;
  for (const fs::path& file : files)
    if (Count count = read_counts(file); !count.name.empty()) counts.push_back(std::move(count));
  return counts;
}

}  // namespace tessera::bench
