// The command line of the engines among the samples.
#pragma once
#include <string>

namespace sample {

struct Options {
  int width = 960, height = 540;
  int headless_frames = 0;  // how many to render off screen; 0: in a window
  std::string picture;      // the PNG file for the last of them
  int still = -1;           // the frame at which the animation stands; -1: it moves
  bool with_tessera = true;
};

// Explains itself and ends the program for --help; throws std::runtime_error with one line for what it does not know.
Options parse_options(int argc, char** argv, const char* what_it_is);

}  // namespace sample
