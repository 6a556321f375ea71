// Instructions of this process's calling side, counted by callgrind.
#pragma once
#include <string>
#include <vector>

namespace tessera::bench {

// Of one unit: an operation, a run, a frame.
struct Count {
  std::string name;
  double tessera;      // instructions in tessera and its caller, and in the libraries of C and C++ but for allocations
  double driver;       // of the drivers that these call, until they return
  double allocations;  // by tessera and its caller
};

// Why nothing can be counted here; empty where it can.
std::string why_nothing_is_counted();

// Runs the program of workloads.cpp under callgrind. Throws std::runtime_error.
std::vector<Count> count_instructions(const std::string& program, const std::string& arguments);

}  // namespace tessera::bench
