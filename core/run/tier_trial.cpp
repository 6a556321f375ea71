#include "core/run/tier_trial.h"

#include <algorithm>
#include <utility>

#include "core/run/context_state.h"

namespace tessera {
namespace {

PixelKernel on_images_of_floats(PixelKernel kernel) {
  for (PixelInput& input : kernel.inputs)
    if (input.place != PixelPlace::elements) input = {PixelPlace::texels, DType::f32, 4};
  for (PixelOutput& output : kernel.outputs)
    if (output.place != PixelPlace::elements) output = {PixelPlace::texels, DType::f32, 4, output.value};
  kernel.make_key();
  return kernel;
}

template <class AnyKernel>
AnyKernel with(AnyKernel kernel, const ConstantWords& constants, bool has_floats) {
  kernel.constants = constants;
  kernel.constants.has_floats = has_floats;
  kernel.make_key();
  return kernel;
}

}  // namespace

TierTrial::TierTrial(TierWork work, std::shared_ptr<Tier> tier) : work_(std::move(work)), tier_(std::move(tier)) {
  make_kernels(true);
  if (work_.pixel_kernel) work_.pixel_kernel = on_images_of_floats(std::move(*work_.pixel_kernel));
}

TierTrial::~TierTrial() {
  if (tier_->state == Tier::State::on_trial) tier_->state = Tier::State::refused;
}

void TierTrial::make_kernels(bool with_floats) {
  has_floats_ = with_floats;
  if (!tier_->pixel_kernel && !work_.pixel_kernel) {
    tier_->kernel = with(work_.kernel, work_.constants, with_floats);
    return;
  }
  // On trial, images may be others than the tier's.
  tier_->pixel_kernel =
      with(tier_->pixel_kernel ? *tier_->pixel_kernel : *work_.pixel_kernel, work_.constants, with_floats);
  tried_pixels_ = on_images_of_floats(*tier_->pixel_kernel);
}

TierTrial::Turn TierTrial::refuse() {
  tier_->state = Tier::State::refused;
  tier_->uses.clear();
  return Turn::over;
}

TierTrial::Turn TierTrial::work(ContextState& context, bool whatever_times) {
  try {
    if (context.backend->is_lost()) return refuse();
    return work_on(context, whatever_times);
  } catch (...) {  // no room, no such kernel, or a lost device, which the next call of the host's notices
    return refuse();
  }
}

TierTrial::Turn TierTrial::work_on(ContextState& context, bool whatever_times) {
  Backend& backend = *context.backend;
  switch (phase_) {
    case Phase::allocate:
      if (!allocate(context)) return refuse();
      fill(backend, TrialNumbers::ordinary);
      phase_ = Phase::compile_general;
      return Turn::did_some;

    case Phase::compile_general:  // plans may have it on other images only
      if (!backend.prepare_beside(dispatch_of(true, general_))) return Turn::waits;
      clock_.measure(context, {dispatch_of(true, general_), dispatch_of(true, general_)});
      phase_ = Phase::weigh;
      return Turn::did_some;

    case Phase::weigh:
      if (!clock_.is_ready()) return Turn::waits;
      general_time_ = least_known(clock_.times()[0], clock_.times()[1]);
      if (general_time_ < least_trial_time && !whatever_times) return refuse();
      phase_ = Phase::compile;
      return Turn::did_some;

    case Phase::compile: {
      if (!backend.prepare_beside(dispatch_of(false, special_))) return Turn::waits;
      if (tier_->pixel_kernel &&
          !backend.prepare_beside({.kernel = nullptr, .pixel_kernel = &*tier_->pixel_kernel, .uses = &tier_->uses}))
        return Turn::waits;
      ++context.stats.tiers_compiled;
      phase_ = Phase::compare;
      return Turn::did_some;
    }

    case Phase::compare: {
      fill(backend, numbers_);
      const std::vector<Dispatch> both{dispatch_of(true, general_), dispatch_of(false, special_)};
      backend.run(both, std::nullopt);
      output_ = 0;
      reader_.reset();
      start_download(backend);
      phase_ = Phase::download;
      return Turn::did_some;
    }

    case Phase::download:
      if (!reader_->is_ready()) return Turn::waits;
      reader_->take();
      if (!are_equal()) {
        if (!has_floats_) return refuse();
        make_kernels(false);  // compilers compute with numbers that they know in another order
        tier_->uses.clear();
        phase_ = Phase::compile;
        return Turn::did_some;
      }
      if (start_download(backend)) return Turn::did_some;
      if (numbers_ == TrialNumbers::ordinary) {
        numbers_ = TrialNumbers::any_bits;
        phase_ = Phase::compare;
        return Turn::did_some;
      }
      if (!whatever_times) {
        fill(backend, TrialNumbers::ordinary);
        begin_to_measure(context);
        return Turn::did_some;
      }
      break;

    case Phase::time:
      if (!clock_.is_ready()) return Turn::waits;
      turns_.note(clock_.times()[0], clock_.times()[1]);
      if (measure_a_turn(context)) return Turn::did_some;
      if (!turns_.is_tried_faster()) return refuse();
      if (!std::exchange(has_won_before_, true)) {  // other work on the device may have made the difference
        begin_to_measure(context);
        return Turn::did_some;
      }
      break;
  }
  tier_->state = Tier::State::taken;
  return Turn::over;
}

void TierTrial::begin_to_measure(ContextState& context) {
  turns_ = TimesInTurns(general_time_);
  phase_ = Phase::time;
  measure_a_turn(context);
}

bool TierTrial::measure_a_turn(ContextState& context) {
  if (!turns_.take_turn()) return false;
  clock_.measure(context, {dispatch_of(true, general_), dispatch_of(false, special_)});
  return true;
}

bool TierTrial::allocate(ContextState& context) {
  Backend& backend = *context.backend;
  std::uint64_t bytes = 0;
  const auto add = [&](const StorageSpec& spec) { bytes += backend.storage_class(spec).bytes; };
  for (const StorageSpec& spec : work_.inputs) add(spec);
  for (const TierWork::Output& output : work_.outputs) add(output.storage), add(output.storage);
  if (!has_room_for_trial(context, bytes)) return false;
  for (const StorageSpec& spec : work_.inputs) inputs_.push_back(backend.allocate(spec));
  for (const TierWork::Output& output : work_.outputs) {
    general_.push_back(backend.allocate(output.storage));
    special_.push_back(backend.allocate(output.storage));
  }
  return true;
}

void TierTrial::fill(Backend& backend, TrialNumbers numbers) {
  fill_for_trial(backend, inputs_, work_.inputs, numbers);
}

Dispatch TierTrial::dispatch_of(bool is_general, std::vector<std::unique_ptr<Storage>>& outputs) {
  Dispatch dispatch{};
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    dispatch.inputs.push_back({inputs_[i].get(), work_.inputs[i].elements});
  dispatch.words = work_.words;
  dispatch.operand_elements = work_.operand_elements;
  dispatch.workgroups = work_.workgroups;
  dispatch.uses = &tier_->uses;
  if (work_.pixel_kernel) {
    dispatch.pixel_kernel = is_general ? &*work_.pixel_kernel : &tried_pixels_;
    for (const std::unique_ptr<Storage>& output : outputs) dispatch.custom_outputs.push_back(output.get());
    return dispatch;
  }
  dispatch.kernel = is_general ? &work_.kernel : &tier_->kernel;
  dispatch.output = outputs[0].get();
  dispatch.output_dtype = work_.outputs[0].storage.dtype;
  dispatch.output_elements = work_.outputs[0].storage.elements;
  return dispatch;
}

void TierTrial::finished(ContextState& context) {
  ++(tier_->state == Tier::State::taken ? context.stats.tiers_taken : context.stats.tiers_refused);
}

bool TierTrial::start_download(Backend& backend) {
  if (reader_ && reader_->start_next(backend)) return true;
  if (reader_) ++output_;
  for (; output_ < work_.outputs.size(); ++output_) {
    reader_.emplace(std::vector<const Storage*>{general_[output_].get(), special_[output_].get()},
                    work_.outputs[output_].storage);
    if (reader_->start_next(backend)) return true;
  }
  return false;
}

bool TierTrial::are_equal() const {
  const std::span<const std::byte> general_bytes = reader_->bytes(0), special_bytes = reader_->bytes(1);
  const TierWork::Output& output = work_.outputs[output_];
  return have_same_bits(output.storage.dtype, general_bytes, special_bytes, output.channels);
}

}  // namespace tessera
