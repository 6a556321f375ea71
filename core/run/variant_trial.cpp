#include "core/run/variant_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/run/context_state.h"

namespace tessera {
namespace {

constexpr double most_device_time = 1'000'000;  // microseconds, after which no further variant is begun
constexpr double time_of_turns = 50'000;        // that variants take in turns
constexpr std::chrono::seconds most_waiting{30};

std::vector<float> floats_of_bytes(std::span<const std::byte> bytes, DType dtype) {
  std::vector<float> values(bytes.size() / size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_of(dtype), size_of(dtype));
    if (dtype == DType::f16) values[i] = static_cast<float>(half::from_bits(static_cast<std::uint16_t>(bits)));
    else std::memcpy(&values[i], &bits, sizeof bits);
  }
  return values;
}

}  // namespace

StorageSpec VariantTrial::result() const { return {choice_.core.kernel.core.dtype, choice_.core.words[0]}; }

Trial::Turn VariantTrial::work(ContextState& context, bool whatever_times) {
  try {
    const Turn turn = context.backend->is_lost() ? give_up() : work_on(context, whatever_times);
    // Times of runs that failed never come.
    const auto now = std::chrono::steady_clock::now();
    if (turn != Turn::waits) began_to_wait_ = now;
    return now - began_to_wait_ > most_waiting ? give_up() : turn;
  } catch (...) {  // no room, no such kernel, or a lost device, which the next call of the host's notices
    return give_up();
  }
}

Trial::Turn VariantTrial::give_up() {
  winner_.reset();
  uses_.clear();
  return Turn::over;
}

void VariantTrial::finished(ContextState& context) { context.variants.decided(choice_, winner_, std::move(uses_)); }

Trial::Turn VariantTrial::work_on(ContextState& context, bool whatever_times) {
  Backend& backend = *context.backend;
  switch (phase_) {
    case Phase::allocate: {
      variants_ = variants_of(choice_.core, backend.limits(), choice_.core.output + 1);
      if (variants_.size() != choice_.names.size() || !allocate(context)) return give_up();
      fill_for_trial(backend, inputs_, operands_, TrialNumbers::ordinary);
      std::vector<Dispatch> twice = dispatches_of(usual_, *usual_result_);
      std::ranges::copy(dispatches_of(usual_, *usual_result_), std::back_inserter(twice));
      clock_.measure(context, twice);
      phase_ = Phase::weigh;
      return Turn::did_some;
    }

    case Phase::weigh: {
      if (!clock_.is_ready()) return Turn::waits;
      const std::size_t steps = variants_[0].steps.size();
      best_time_ = std::min(time_of(0, steps), time_of(steps, steps));
      winner_ = 0;
      if (best_time_ < least_trial_time && !whatever_times) return Turn::over;
      return begin_next(context);
    }

    case Phase::compile:
      try {
        for (const Dispatch& dispatch : dispatches_of(tried_, *tried_result_))
          if (!backend.prepare_beside(dispatch)) return Turn::waits;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::compile_failed) throw;
        return begin_next(context);  // others may do
      }
      begin_comparing(backend, TrialNumbers::whole);
      return Turn::did_some;

    case Phase::compare:
      if (!reader_->is_ready()) return Turn::waits;
      reader_->take();
      if (!agree()) return begin_next(context);
      if (reader_->start_next(backend)) return Turn::did_some;
      if (numbers_ == TrialNumbers::whole) {
        begin_comparing(backend, TrialNumbers::ordinary);
        return Turn::did_some;
      }
      if (whatever_times) {
        winner_ = tried_.index;
        return begin_next(context);
      }
      has_won_before_ = false;
      measure_in_turns(context);
      return Turn::did_some;

    case Phase::time:
      if (!clock_.is_ready()) return Turn::waits;
      if (!is_tried_faster()) return begin_next(context);
      if (!std::exchange(has_won_before_, true)) {  // other work on the device may have made the difference
        measure_in_turns(context);
        return Turn::did_some;
      }
      winner_ = tried_.index;
      std::swap(best_, tried_);
      return begin_next(context);

    case Phase::prepare: return prepare_winner(backend);
  }
  return Turn::over;
}

void VariantTrial::measure_in_turns(ContextState& context) {
  const double pairs = std::clamp(time_of_turns / std::max(2 * best_time_, 1.0), 3.0, 8.0);
  std::vector<Dispatch> turns;
  for (int i = 0; i < static_cast<int>(pairs); ++i) {
    std::ranges::copy(dispatches_of(best_, *usual_result_), std::back_inserter(turns));
    std::ranges::copy(dispatches_of(tried_, *tried_result_), std::back_inserter(turns));
  }
  clock_.measure(context, turns);
  phase_ = Phase::time;
}

// By the least time, and in most of the turns.
bool VariantTrial::is_tried_faster() {
  const std::size_t of_best = variants_[best_.index].steps.size(), of_tried = variants_[tried_.index].steps.size();
  double best = 0, tried = 0;
  int turns = 0, wins = 0;
  const auto keep_least = [](double& least, double time) { least = least > 0 ? std::min(least, time) : time; };
  for (std::size_t i = 0; i < clock_.times().size(); i += of_best + of_tried) {
    const double time = time_of(i, of_best), tried_time = time_of(i + of_best, of_tried);
    spent_ += time + tried_time;
    if (time == 0 || tried_time == 0) continue;
    keep_least(best, time);
    keep_least(tried, tried_time);
    ++turns;
    if (tried_time < time) ++wins;
  }
  if (turns == 0 || 3 * wins < 2 * turns || tried >= fraction_to_take * best) return false;
  best_time_ = tried;
  return true;
}

// The usual variant's result is also that of the fastest so far: times depend on neither.
bool VariantTrial::allocate(ContextState& context) {
  Backend& backend = *context.backend;
  for (const StorageSpec& spec : operands_) bytes_ += backend.storage_class(spec).bytes;
  bytes_ += 3 * backend.storage_class(result()).bytes;
  if (!has_room_for_trial(context, bytes_)) return false;
  for (const StorageSpec& spec : operands_) inputs_.push_back(backend.allocate(spec));
  usual_result_ = backend.allocate(result());
  tried_result_ = backend.allocate(result());
  magnitudes_ = backend.allocate(result());
  return has_own_storages(context, usual_) && has_own_storages(context, best_);
}

bool VariantTrial::has_own_storages(ContextState& context, Candidate& candidate) {
  Backend& backend = *context.backend;
  candidate.own.clear();
  std::uint64_t bytes = 0;
  for (const StorageSpec& spec : variants_[candidate.index].own_storages) bytes += backend.storage_class(spec).bytes;
  // Three variants have storages of about this size at the same time.
  if (!has_room_for_trial(context, bytes_ + 3 * bytes)) return false;
  for (const StorageSpec& spec : variants_[candidate.index].own_storages)
    candidate.own.push_back(backend.allocate(spec));
  return true;
}

Trial::Turn VariantTrial::begin_next(ContextState& context) {
  tried_.index = next_++;
  if (tried_.index < variants_.size() && spent_ < most_device_time) {
    if (!has_own_storages(context, tried_)) return give_up();
    ++context.stats.variants_tried;
    phase_ = Phase::compile;
    return Turn::did_some;
  }
  if (*winner_ == 0) return Turn::over;
  // Plans have pointwise work in the same kernel: it is compiled before they take it.
  prepared_ = variants_of(choice_.step, context.backend->limits(), 0);
  phase_ = Phase::prepare;
  return Turn::did_some;
}

void VariantTrial::begin_comparing(Backend& backend, TrialNumbers numbers) {
  numbers_ = numbers;
  std::vector<const Storage*> results{usual_result_.get(), tried_result_.get()};
  if (numbers == TrialNumbers::ordinary) {
    fill_for_trial(backend, inputs_, operands_, TrialNumbers::magnitudes);
    backend.run(dispatches_of(usual_, *magnitudes_), std::nullopt);
    results.push_back(magnitudes_.get());
  }
  fill_for_trial(backend, inputs_, operands_, numbers);
  std::vector<Dispatch> both = dispatches_of(usual_, *usual_result_);
  std::ranges::copy(dispatches_of(tried_, *tried_result_), std::back_inserter(both));
  backend.run(both, std::nullopt);
  spent_ += 2 * best_time_;
  reader_.emplace(std::move(results), result());
  reader_->start_next(backend);
  phase_ = Phase::compare;
}

bool VariantTrial::agree() const {
  const std::span<const std::byte> usual_bytes = reader_->bytes(0), tried_bytes = reader_->bytes(1);
  if (std::ranges::equal(usual_bytes, tried_bytes)) return true;
  const DType dtype = reader_->dtype();
  if (!is_float(dtype)) return false;
  const std::vector<float> usual = floats_of_bytes(usual_bytes, dtype), tried = floats_of_bytes(tried_bytes, dtype);
  // Zeros of either sign are the same number.
  if (numbers_ == TrialNumbers::whole) return usual == tried;
  const std::vector<float> magnitudes = floats_of_bytes(reader_->bytes(2), dtype);
  const float part = dtype == DType::f16 ? 0x1p-10f : 0x1p-16f;
  for (std::size_t i = 0; i < usual.size(); ++i)
    if (!(std::abs(usual[i] - tried[i]) <= part * magnitudes[i])) return false;
  return true;
}

Trial::Turn VariantTrial::prepare_winner(Backend& backend) {
  if (*winner_ >= prepared_.size()) return Turn::over;
  for (const Step& step : prepared_[*winner_].steps) {
    Dispatch dispatch{.kernel = step.pixel_kernel ? nullptr : &step.kernel};
    if (step.pixel_kernel) dispatch.pixel_kernel = &*step.pixel_kernel;
    dispatch.words = step.words;
    dispatch.output_elements = step.words[0];
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const bool is_dense = !step.pixel_kernel && step.kernel.inputs[i].access == Access::dense;
      dispatch.inputs.push_back({nullptr, is_dense ? std::int64_t{step.words[0]} : 0});
    }
    dispatch.uses = &uses_;
    if (!backend.prepare_beside(dispatch)) return Turn::waits;
  }
  return Turn::over;
}

double VariantTrial::time_of(std::size_t first, std::size_t count) const {
  double time = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    if (clock_.times()[i] == 0) return 0;
    time += clock_.times()[i];
  }
  return time;
}

std::vector<Dispatch> VariantTrial::dispatches_of(const Candidate& candidate, Storage& output) {
  std::vector<Dispatch> dispatches;
  const auto storage_of = [&](int item) -> Storage* {
    const auto index = static_cast<std::size_t>(item);
    if (index < inputs_.size()) return inputs_[index].get();
    return index == inputs_.size() ? &output : candidate.own[index - inputs_.size() - 1].get();
  };
  const StepVariant& variant = variants_[candidate.index];
  for (const Step& step : variant.steps) {
    Dispatch dispatch{.kernel = step.pixel_kernel ? nullptr : &step.kernel};
    for (const int input : step.inputs) {
      const auto index = static_cast<std::size_t>(input);
      const std::int64_t elements = index < inputs_.size() ? operands_[index].elements
                                                           : variant.own_storages[index - inputs_.size() - 1].elements;
      dispatch.inputs.push_back({storage_of(input), elements});
    }
    dispatch.words = step.words;
    dispatch.operand_elements = step.operand_elements;
    dispatch.workgroups = step.workgroups;
    dispatch.uses = &uses_;
    if (step.pixel_kernel) {
      dispatch.pixel_kernel = &*step.pixel_kernel;
      for (const PixelResult& made : step.pixel_results) dispatch.custom_outputs.push_back(storage_of(made.item));
    } else {
      dispatch.output = storage_of(step.output);
      dispatch.output_dtype = step.kernel.expression.result();
      dispatch.output_elements = step.words[0];
    }
    dispatches.push_back(std::move(dispatch));
  }
  return dispatches;
}

}  // namespace tessera
