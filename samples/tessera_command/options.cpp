#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace command {
namespace {

constexpr const char* usage = R"(Networks from files, on the GPU.

  tessera run MODEL [options]      runs it: results, and the time of each kernel
  tessera explain MODEL [options]  what becomes of each node

MODEL is an ONNX file, or the model.json of a TF.js model.
  --input [NAME=]FILE  a picture, which is brought to the input's size, or a .npy file; an input without a file
                       gets numbers that are made up, and the same each time
  --range LOW,HIGH     what black and white of pictures become; 0,1 unless told
  --size NAME=N        of a size that the model leaves free, by its name; 1 unless told, or what the input's file says
  --backend NAME       webgpu, gles, cpu
  --driver NAME        part of a device's name or driver
  --out FILE.png       the first output that is a picture
  --out FOLDER         each output as a .npy file
  --top N              how many of the largest numbers to show of each output; 5 unless told
  --runs N             over how many runs times are measured; 10 unless told
  --check              runs on every device, and compares with the CPU; what differs is written to a folder, in that
                       of --out
  --tolerance T        by which numbers may differ, relative to the largest of the output; 0.001 unless told
)";

[[noreturn]] void fail(const std::string& text) { throw std::runtime_error(text + "; --help explains"); }

double number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') fail("'" + text + "' is not a number");
  return value;
}

int count_of(const std::string& text) {
  const double value = number_of(text);
  if (value < 1 || value > 1e9 || value != static_cast<double>(static_cast<int>(value)))
    fail("'" + text + "' is not a number from 1 on");
  return static_cast<int>(value);
}

std::pair<std::string, std::string> parts_of(const std::string& text, char separator, const std::string& form) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) fail("'" + text + "' is not of the form " + form);
  return {text.substr(0, at), text.substr(at + 1)};
}

tessera::BackendKind backend_of(const std::string& name) {
  for (const auto kind : {tessera::BackendKind::webgpu, tessera::BackendKind::gles, tessera::BackendKind::cpu})
    if (name == to_string(kind)) return kind;
  fail("there is no backend '" + name + "'");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  for (int at = 1; at < argc; ++at) {
    const std::string option = argv[at];
    const auto next = [&] {
      if (at + 1 >= argc) fail(option + " needs a value");
      return std::string(argv[++at]);
    };
    if (option == "--help") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else if (option == "--input") {
      const std::string value = next();
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) options.inputs[""] = value;
      else options.inputs[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (option == "--size") {
      const auto [name, size] = parts_of(next(), '=', "NAME=N");
      options.sizes[name] = count_of(size);
    } else if (option == "--range") {
      const auto [lowest, highest] = parts_of(next(), ',', "LOW,HIGH");
      options.lowest = static_cast<float>(number_of(lowest));
      options.highest = static_cast<float>(number_of(highest));
    } else if (option == "--backend") {
      options.backend = backend_of(next());
    } else if (option == "--driver") {
      options.driver = next();
    } else if (option == "--out") {
      options.out = next();
    } else if (option == "--top") {
      options.top = count_of(next());
    } else if (option == "--runs") {
      options.runs = count_of(next());
    } else if (option == "--tolerance") {
      options.tolerance = static_cast<float>(number_of(next()));
    } else if (option == "--check") {
      options.checks = true;
    } else if (option.starts_with("--")) {
      fail("unknown option '" + option + "'");
    } else {
      words.push_back(option);
    }
  }
  if (words.size() != 2 || (words[0] != "run" && words[0] != "explain"))
    fail("it takes 'run' or 'explain', and a model");
  options.work = words[0] == "run" ? Options::Work::run : Options::Work::explain;
  options.model = words[1];
  return options;
}

}  // namespace command
