#include "core/run/preparation.h"

#include <algorithm>
#include <numeric>

#include "core/run/batch.h"
#include "core/run/context_impl.h"
#include "core/run/pending_work.h"
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

Pending<void> prepare(ContextState& state, std::shared_ptr<Preparation> preparation,
                      std::shared_ptr<ProgramImpl> program) {
  state.add(preparation);
  const std::shared_ptr<ContextImpl> owner = state.owner.shared_from_this();
  auto nothing = std::make_shared<std::optional<std::monostate>>();
  if (!state.works_beside()) {  // callers compile: by prepare_some(), the last of them here, or between a page's events
    const auto is_over = [preparation](ContextState&) { return preparation->is_over(); };
    const auto finish = [preparation, program](ContextState& context) {
      context.require_open();
      preparation->compile_all(context);
      preparation->throw_error();
    };
    const auto advance = [preparation, program](ContextState& context) {
      constexpr auto part_of_a_frame = std::chrono::milliseconds(4);
      preparation->compile_until(context, Preparation::Clock::now() + part_of_a_frame);
    };
    return {std::make_shared<CallersWork>(owner, CallersWork::Steps{is_over, finish, advance}), std::move(nothing)};
  }
  auto work = std::make_shared<BackgroundWork>();
  const auto compile = [owner, preparation, program, work](ContextState& context) {
    try {
      preparation->compile_next(context);
      if (!preparation->is_over()) return false;
      preparation->throw_error();
      work->complete();
    } catch (...) {
      work->complete(std::current_exception());
    }
    return true;
  };
  state.owner.background.add(compile, [work] { work->tell(); });
  return {std::move(work), std::move(nothing)};
}

}  // namespace tessera
