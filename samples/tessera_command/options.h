// The command line.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace command {

struct Options {
  enum class Work { run, explain } work = Work::run;
  std::string model;
  std::map<std::string, std::string> inputs;         // files by input; "" names the only input
  std::map<std::string, std::int64_t> sizes;         // of what the file leaves free
  std::optional<tessera::BackendKind> backend = {};  // none: the best there is
  std::string driver;
  std::string out;                // a .png for a picture, or a folder for .npy files
  float lowest = 0, highest = 1;  // what black and white of a picture become
  int runs = 10;
  int top = 5;
  bool checks = false;
  float tolerance = 1e-3f;
};

// Explains itself and ends the program for --help; throws std::runtime_error with one line for what it does not know.
Options parse_options(int argc, char** argv);

}  // namespace command
