// The command line of the engines among the samples.
#pragma once
#include <string>

#include "support/window.h"

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

// Each throws std::runtime_error with one line for what is none.
int parse_number(const std::string&, int lowest, int highest);
Size parse_size(const std::string& width_x_height);

}  // namespace sample
