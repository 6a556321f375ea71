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

Preparation::Preparation(const ContextState& context, KernelsToCompile kernels) : kernels_(std::move(kernels)) {
  begin(context, kernels_->dispatches.size());
}

void Preparation::begin(const ContextState& context, std::size_t steps) {
  steps_left_.resize(steps);
  std::iota(steps_left_.begin(), steps_left_.end(), std::size_t{0});
  epoch_ = context.epoch;
}

// Calls work(compile), which takes the steps away that it has compiled, by compile(step), or by compile(step, beside),
// which gives true once the kernel is there.
template <class Work>
void Preparation::with_steps(ContextState& context, const Work& work) {
  const std::shared_ptr<ProgramImpl> program = program_.lock();
  if (is_over()) return;
  try {
    context.recovery.run([&] {
      if (program && program->epoch != context.epoch) plan_for_device(context, *program);
      if (epoch_ != context.epoch) begin(context, program ? program->plan->steps.size() : 0);  // nothing is compiled
      work([&](std::size_t step, bool beside) {
        if (!program) {
          const Dispatch& dispatch = kernels_->dispatches[step];
          if (beside) return context.backend->prepare_beside(dispatch);
          context.backend->prepare(dispatch);
          return true;
        }
        const Step& of_program = program->plan->steps[step];
        if (beside) return prepare_step_beside(context, of_program, program->graph, program->kernels);
        prepare_step(context, of_program, program->graph, program->kernels);
        return true;
      });
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
  with_steps(context, [&](const auto& compile) {
    if (steps_left_.empty()) return;
    compile(steps_left_.front(), false);
    steps_left_.erase(steps_left_.begin());
  });
}

void Preparation::compile_all(ContextState& context) {
  while (!is_over()) compile_next(context);
}

void Preparation::compile_until(ContextState& context, Clock::time_point deadline) {
  with_steps(context, [&](const auto& compile) {
    Clock::duration longest{};
    Clock::time_point now = Clock::now();
    for (auto step = steps_left_.begin(); step != steps_left_.end();) {
      const Clock::time_point began = now;
      step = compile(*step, true) ? steps_left_.erase(step) : step + 1;
      now = Clock::now();
      longest = std::max(longest, now - began);
      if (now + longest > deadline) return;
    }
  });
}

std::future<void> prepare(ContextState& state, std::shared_ptr<Preparation> preparation,
                          std::shared_ptr<ProgramImpl> program) {
  state.add(preparation);
  const std::shared_ptr<ContextImpl> owner = state.owner.shared_from_this();
  if (!state.works_beside())  // the host's calls compile: prepare_some(), or the last of them here
    return std::async(std::launch::deferred, [owner, preparation, program] {
      const LockedContext context(*owner);
      preparation->compile_all(*context);
      preparation->throw_error();
    });
  auto promise = std::make_shared<std::promise<void>>();
  std::future<void> future = promise->get_future();
  state.owner.background.add([owner, preparation, program, promise](ContextState& context) {
    try {
      preparation->compile_next(context);
      if (!preparation->is_over()) return false;
      preparation->throw_error();
      promise->set_value();
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
    return true;
  });
  return future;
}

}  // namespace tessera
