// tessera run, tessera explain: networks from files, in a terminal.
#include <cstdio>
#include <exception>

#include "work.h"

int main(int argc, char** argv) {
  try {
    const command::Options options = command::parse_options(argc, argv);
    return options.work == command::Options::Work::run ? command::run(options) : command::explain(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera: %s\n", error.what());
    return 1;
  }
}
