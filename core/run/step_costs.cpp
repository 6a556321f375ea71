#include "core/run/step_costs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tessera {
namespace {

// The first time that a kernel runs, a driver may prepare more than it does later: that counts until there is another.
constexpr double weight_of_latest = 0.25;

// Equal for steps of equal work; imports and custom kernels have no Kernel, and are like no other.
std::string work_of(const Plan& plan, const Graph& graph, std::size_t index) {
  const Step& step = plan.steps[index];
  WorkText text;
  text.list(step.words);
  if (step.pixel_kernel) return step.pixel_kernel->key.text() + std::string(text.text());
  text.list(step.operand_elements);
  text.number(step.workgroups);
  if (step.kernel.key.empty()) {
    text.number(graph.at(step.output).shape().size());
    text.number(static_cast<std::int64_t>(index));
  }
  return step.kernel.key.text() + std::string(text.text());
}

}  // namespace

StepCosts::StepCosts(const Plan& plan, const Graph& graph, const Backend& backend) : is_timed_(backend.can_time()) {
  std::map<std::string, std::size_t, std::less<>> known;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto [kind, is_new] = known.try_emplace(work_of(plan, graph, i), known.size());
    kinds_.push_back(kind->second);
    // Backends leave out what has no elements, and cannot time it.
    const Step& step = plan.steps[i];
    const bool is_nothing = !step.pixel_kernel && !step.kernel.key.empty() && step.words[0] == 0;
    if (is_new) costs_.push_back({.time = 0, .times_measured = is_nothing ? times_until_known() : 0});
  }
}

std::size_t StepCosts::slice(std::size_t first, double budget) const {
  double left = budget, host_left = budget;
  std::size_t next = first;
  while (next < kinds_.size()) {
    const Cost& cost = of(next);
    const bool fits =
        is_known(next) ? cost.time <= left && host_time_ <= host_left : is_timed_ && left > 0 && host_left > 0;
    if (next > first && !fits) break;
    if (!is_known(next++)) break;
    left -= cost.time;
    host_left -= host_time_;
  }
  return next - first;
}

void StepCosts::measured(std::size_t step, double time) {
  Cost& cost = costs_[kinds_[step]];
  cost.time += (cost.times_measured <= 1 ? 1 : weight_of_latest) * (time - cost.time);
  ++cost.times_measured;
}

void StepCosts::measured(std::size_t first, std::span<const DispatchTime> times) {
  if (times.empty()) return;
  constexpr double milliseconds = 0.001;
  // Time between the steps is theirs too. Clocks may be coarse, and then it is most of what they tell.
  double between = times.back().end - times.front().begin;
  for (const DispatchTime& time : times) between -= time.end - time.begin;
  const double share = std::max(between, 0.0) / static_cast<double>(times.size());
  for (const DispatchTime& time : times)
    measured(first + time.dispatch, (time.end - time.begin + share) * milliseconds);
}

// Some submissions compile, or wait for the driver: one that is faster counts at once, one that is slower a little.
void StepCosts::submitted(std::size_t steps, double host_time) {
  const double time = host_time / static_cast<double>(steps);
  host_time_ = host_time_ == 0 ? time : std::min(time, host_time_ + weight_of_latest * (time - host_time_));
}

void TimedSteps::timed(const TimedRun& times) {
  // Runs before it that have no times failed.
  while (!under_way_.empty() && under_way_.front().number < times.run) under_way_.pop_front();
  if (under_way_.empty() || under_way_.front().number != times.run) return;
  const Run run = std::move(under_way_.front());
  under_way_.pop_front();
  run.costs->measured(run.first, times.times);
}

}  // namespace tessera
