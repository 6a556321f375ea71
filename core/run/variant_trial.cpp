#include "core/run/variant_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/run/context_state.h"

namespace tessera {
namespace {

constexpr double most_device_time = 1'000'000;  // microseconds, after which no further variant is begun

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
    return context.backend->is_lost() ? end_without_winner() : work_on(context, whatever_times);
  } catch (...) {  // no room, no such kernel, or a lost device, which the next call of the host's notices
    return end_without_winner();
  }
}

void VariantTrial::give_up() {
  winner_.reset();
  uses_.clear();
}

Trial::Turn VariantTrial::end_without_winner() {
  give_up();
  return Turn::over;
}

void VariantTrial::finished(ContextState& context) { context.variants.decided(choice_, winner_, std::move(uses_)); }

Trial::Turn VariantTrial::work_on(ContextState& context, bool whatever_times) {
  Backend& backend = *context.backend;
  switch (phase_) {
    case Phase::allocate: {
      variants_ = variants_of(choice_.core, backend.limits(), choice_.core.output + 1);
      if (variants_.size() != choice_.names.size() || !allocate(context)) return end_without_winner();
      fill_for_trial(backend, inputs_, operands_, TrialNumbers::ordinary);
      phase_ = Phase::compile_usual;
      return Turn::did_some;
    }

    case Phase::compile_usual: {  // plans may have it with pointwise work only
      std::vector<Dispatch> twice = dispatches_of(usual_, *usual_result_);
      for (const Dispatch& dispatch : twice)
        if (!backend.prepare_beside(dispatch)) return Turn::waits;
      std::ranges::copy(dispatches_of(usual_, *usual_result_), std::back_inserter(twice));
      clock_.measure(context, twice);
      phase_ = Phase::weigh;
      return Turn::did_some;
    }

    case Phase::weigh: {
      if (!clock_.is_ready()) return Turn::waits;
      const std::size_t steps = variants_[0].steps.size();
      best_time_ = least_known(time_of(0, steps), time_of(steps, steps));
      if (best_time_ == 0 && !whatever_times) return end_without_winner();
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
      if (numbers_ == TrialNumbers::ordinary && needs_same_bits_) {
        begin_comparing(backend, TrialNumbers::any_bits);
        return Turn::did_some;
      }
      if (whatever_times) {
        winner_ = tried_.index;
        return begin_next(context);
      }
      if (needs_same_bits_) fill_for_trial(backend, inputs_, operands_, TrialNumbers::ordinary);
      has_won_before_ = false;
      begin_to_measure(context);
      return Turn::did_some;

    case Phase::time:
      if (!clock_.is_ready()) return Turn::waits;
      note_turn();
      if (measure_a_turn(context)) return Turn::did_some;
      if (!turns_.is_tried_faster()) return begin_next(context);
      if (!std::exchange(has_won_before_, true)) {  // other work on the device may have made the difference
        begin_to_measure(context);
        return Turn::did_some;
      }
      best_time_ = turns_.least_tried();
      winner_ = tried_.index;
      std::swap(best_, tried_);
      return begin_next(context);

    case Phase::prepare: return prepare_winner(backend);
  }
  return Turn::over;
}

void VariantTrial::begin_to_measure(ContextState& context) {
  turns_ = TimesInTurns(best_time_);
  phase_ = Phase::time;
  measure_a_turn(context);
}

bool VariantTrial::measure_a_turn(ContextState& context) {
  if (!turns_.take_turn()) return false;
  std::vector<Dispatch> both = dispatches_of(best_, *usual_result_);
  std::ranges::copy(dispatches_of(tried_, *tried_result_), std::back_inserter(both));
  clock_.measure(context, both);
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

void VariantTrial::note_turn() {
  const std::size_t of_best = variants_[best_.index].steps.size(), of_tried = variants_[tried_.index].steps.size();
  const double best = time_of(0, of_best), tried = time_of(of_best, of_tried);
  spent_ += best + tried;
  turns_.note(best, tried);
}

Trial::Turn VariantTrial::begin_next(ContextState& context) {
  do tried_.index = next_++;
  while (needs_same_bits_ && tried_.index < variants_.size() && variants_[tried_.index].has_other_terms);
  if (tried_.index < variants_.size() && spent_ < most_device_time) {
    if (!has_own_storages(context, tried_)) return begin_next(context);  // others may take less
    ++context.stats.variants_tried;
    phase_ = Phase::compile;
    return Turn::did_some;
  }
  uses_.clear();  // of those that lost
  if (*winner_ == 0) return Turn::over;
  // Plans have pointwise work in the same kernel: it is compiled before they take it.
  const Step& step = choice_.step;
  const int last_item = std::max(step.output, *std::max_element(step.inputs.begin(), step.inputs.end()));
  prepared_ = variants_of(step, context.backend->limits(), last_item + 1);
  phase_ = Phase::prepare;
  return Turn::did_some;
}

void VariantTrial::begin_comparing(Backend& backend, TrialNumbers numbers) {
  numbers_ = numbers;
  std::vector<const Storage*> results{usual_result_.get(), tried_result_.get()};
  if (numbers == TrialNumbers::ordinary && !needs_same_bits_) {
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
  if (needs_same_bits_) return have_same_bits(dtype, usual_bytes, tried_bytes);
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
