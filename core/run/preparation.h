// Kernels, of a program or of a frame, on their way to being ready: they are compiled before they are needed.
#pragma once
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/batch.h"

namespace tessera {

struct ContextState;
struct ProgramImpl;

class Preparation {
 public:
  using Clock = std::chrono::steady_clock;

  // Does not keep the program alive, which keeps the context alive that this is in.
  explicit Preparation(const std::shared_ptr<ProgramImpl>& program) : program_(program) {}
  Preparation(const ContextState&, KernelsToCompile);

  // All is compiled, or something went wrong, or the program or the device is gone.
  bool is_over() const { return is_over_ || (!kernels_ && program_.expired()); }
  void throw_error() const;  // that went wrong, if anything did

  // On any thread that may use the context, which is locked. Errors are kept, but for wrong_thread, which is thrown.
  void compile_next(ContextState&);
  // Compiles until then, a kernel at least; not one that would probably take longer. Leaves kernels to drivers that
  // compile beside their caller.
  void compile_until(ContextState&, Clock::time_point);
  void compile_all(ContextState&);

 private:
  template <class Work>
  void with_steps(ContextState&, const Work&);
  void begin(const ContextState&, std::size_t steps);

  std::weak_ptr<ProgramImpl> program_;
  std::optional<KernelsToCompile> kernels_;  // instead of a program's
  std::optional<std::uint64_t> epoch_;       // of the device that the steps are for
  std::vector<std::size_t> steps_left_;
  std::exception_ptr error_;
  bool is_over_ = false;
};

// Starts to compile in the background, or, where only the host's thread may, with prepare_some() and with the Pending.
// The program stays until then, if there is one.
Pending<void> prepare(ContextState&, std::shared_ptr<Preparation>, std::shared_ptr<ProgramImpl> = nullptr);

}  // namespace tessera
