#include "core/run/preparation.h"

#include <algorithm>
#include <numeric>

#include "core/run/batch.h"
#include "core/run/context_impl.h"
#include "core/run/program.h"

namespace tessera {

void Preparation::throw_error() const {
  if (error_) std::rethrow_exception(error_);
}

// Calls work(program), which takes the steps away that it has prepared.
template <class Work>
void Preparation::with_steps(ContextState& context, const Work& work) {
  const std::shared_ptr<ProgramImpl> program = program_.lock();
  if (!program || is_over_) return;
  try {
    context.recovery.run([&] {
      if (program->epoch != context.epoch) plan_for_device(context, *program);
      if (epoch_ != context.epoch) {  // on a new device nothing is compiled
        steps_left_.resize(program->plan->steps.size());
        std::iota(steps_left_.begin(), steps_left_.end(), std::size_t{0});
        epoch_ = context.epoch;
      }
      work(*program);
    });
    is_over_ = steps_left_.empty();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::wrong_thread) throw;
    error_ = std::current_exception();
  } catch (...) {
    error_ = std::current_exception();
  }
  if (error_) is_over_ = true;
}

void Preparation::compile_next(ContextState& context) {
  with_steps(context, [&](ProgramImpl& program) {
    if (steps_left_.empty()) return;
    prepare_step(context, program.plan->steps[steps_left_.front()], program.graph, program.kernels);
    steps_left_.erase(steps_left_.begin());
  });
}

void Preparation::compile_all(ContextState& context) {
  while (!is_over()) compile_next(context);
}

void Preparation::compile_until(ContextState& context, Clock::time_point deadline) {
  with_steps(context, [&](ProgramImpl& program) {
    Clock::duration longest{};
    Clock::time_point now = Clock::now();
    for (auto step = steps_left_.begin(); step != steps_left_.end();) {
      const Clock::time_point began = now;
      const bool is_ready = prepare_step_beside(context, program.plan->steps[*step], program.graph, program.kernels);
      step = is_ready ? steps_left_.erase(step) : step + 1;
      now = Clock::now();
      longest = std::max(longest, now - began);
      if (now + longest > deadline) return;
    }
  });
}

}  // namespace tessera
