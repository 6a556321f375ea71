// What the benchmarks share: each *_bench.cpp names workloads, and support.cpp runs them on the GPUs of the machine.
//
//   void tessera::bench::add_workloads() {
//     add("softmax/1024x1024", {f32({1024, 1024}, -4, 4)}, [](const Inputs& in) { return Results{softmax(in[0])}; });
//   }
//
// A workload builds its results anew from operands that are on the device, computes them and waits for the device;
// nothing is read. Kernels are compiled before the clock starts. GB/s counts each operand and each result once.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::bench {

void add_workloads();  // defined by each program

struct Operand {
  Shape shape;
  DType dtype;
  float low, high;  // random numbers in [low, high), whole ones for integers
};
Operand f32(const Shape&, float low = -1, float high = 1);
Operand f16(const Shape&);                                // -1 to 1
Operand i8(const Shape&);                                 // every value
Operand u8(const Shape&);                                 // every value
Operand indices(const Shape&, std::int64_t of_elements);  // i32

struct Inputs {
  Context& context;
  std::vector<Tensor> tensors;  // the operands
  const Tensor& operator[](std::size_t i) const { return tensors[i]; }
};
using Results = std::vector<Tensor>;
using Build = std::function<Results(const Inputs&)>;

// `flops` are the operations of one run; where there are none, only bytes are reported. Either all workloads of a
// program have them or none: Google Benchmark's CSV wants the same columns for all.
void add(const std::string& name, const std::vector<Operand>&, const Build&, double flops = 0);
// The same, recorded once as a Program.
void add_program(const std::string& name, const std::vector<Operand>&, const Build&, double flops = 0);

// Work that is more than computing: uploads, reads, batches. GB/s counts `bytes` for each run. Each line says whether
// the longest run kept to what is promised, and the program fails where one did not.
void add_task(const std::string& name, double bytes, double promised_seconds, const std::function<void(Context&)>&);

// A frame of something that goes on, such as a video: `make` is called once a device, and what it gives once a frame,
// to submit its work. The time includes waiting for the device; fps and host_ms, what one call takes, are reported.
void add_frames(const std::string& name, const std::function<std::function<void()>(Context&)>& make);

}  // namespace tessera::bench
