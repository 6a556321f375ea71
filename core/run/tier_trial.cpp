#include "core/run/tier_trial.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/run/context_state.h"

namespace tessera {
namespace {

constexpr std::uint64_t most_trial_bytes = std::uint64_t{128} << 20;  // of storages
constexpr std::uint64_t most_part_bytes = std::uint64_t{4} << 20;     // that are downloaded at once
constexpr double least_time = 20, most_time = 50'000;                 // microseconds: of the general kernel, of a trial
constexpr double fraction_to_take = 0.95;
constexpr std::chrono::seconds longest_wait{30};

// Xorshift: the same numbers in every run of a program.
class RandomBits {
 public:
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    return state_ ^= state_ << 5;
  }

 private:
  std::uint32_t state_ = 2463534242u;
};

std::uint32_t ordinary(DType dtype, std::uint32_t bits) {
  switch (dtype) {
    case DType::f32: return (bits & 0x807fffffu) | (122u + (bits >> 23) % 8u) << 23;
    case DType::f16: return (bits & 0x83ffu) | (12u + (bits >> 16) % 5u) << 10;
    case DType::boolean: return bits & 1u;
    default: return bits & 0x7fu;
  }
}

std::vector<std::byte> random_elements(RandomBits& random, const StorageSpec& spec, bool any_bits) {
  const std::size_t size = size_of(spec.dtype);
  std::vector<std::byte> bytes(byte_count(spec.elements, spec.dtype));
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint32_t bits = random.next();
    if (!any_bits || spec.dtype == DType::boolean) bits = ordinary(spec.dtype, bits);
    else if ((bits & 0x70u) == 0) bits = 0;
    std::memcpy(bytes.data() + at, &bits, size);
  }
  return bytes;
}

bool is_nan(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f32) return (bits & 0x7fffffffu) > 0x7f800000u;
  return dtype == DType::f16 && (bits & 0x7fffu) > 0x7c00u;
}

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
    const Turn turn = work_on(context, whatever_times);
    // Times of runs that failed never come.
    const auto now = std::chrono::steady_clock::now();
    if (turn != Turn::waits) began_to_wait_ = now;
    return now - began_to_wait_ > longest_wait ? refuse() : turn;
  } catch (...) {  // no room, no such kernel, or a lost device, which the next call of the host's notices
    return refuse();
  }
}

TierTrial::Turn TierTrial::work_on(ContextState& context, bool whatever_times) {
  Backend& backend = *context.backend;
  switch (phase_) {
    case Phase::allocate:
      if (!allocate(context)) return refuse();
      fill(backend, Numbers::ordinary);
      measure(context, {dispatch_of(true, general_), dispatch_of(true, general_)});
      phase_ = Phase::weigh;
      return Turn::did_some;

    case Phase::weigh:
      if (!has_times_) return Turn::waits;
      general_time_ = *std::min_element(times_.begin(), times_.end());
      if (general_time_ < least_time && !whatever_times) return refuse();
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
      output_ = 0, first_ = 0;
      start_download(backend);
      phase_ = Phase::download;
      return Turn::did_some;
    }

    case Phase::download:
      if (!general_part_->ready() || !special_part_->ready()) return Turn::waits;
      general_part_->take(general_bytes_);
      special_part_->take(special_bytes_);
      general_part_.reset(), special_part_.reset();
      if (!are_equal()) {
        if (!has_floats_) return refuse();
        make_kernels(false);  // compilers compute with numbers that they know in another order
        tier_->uses.clear();
        phase_ = Phase::compile;
        return Turn::did_some;
      }
      first_ += count_;
      if (start_download(backend)) return Turn::did_some;
      if (numbers_ == Numbers::ordinary) {
        numbers_ = Numbers::any_bits;
        phase_ = Phase::compare;
        return Turn::did_some;
      }
      if (!whatever_times) {
        fill(backend, Numbers::ordinary);
        const double pairs = std::clamp(most_time / std::max(2 * general_time_, 1.0), 1.0, 6.0);
        std::vector<Dispatch> turns;
        for (int i = 0; i < static_cast<int>(pairs); ++i)
          turns.push_back(dispatch_of(true, general_)), turns.push_back(dispatch_of(false, special_));
        measure(context, turns);
        phase_ = Phase::time;
        return Turn::did_some;
      }
      break;

    case Phase::time: {
      if (!has_times_) return Turn::waits;
      double general = 0, special = 0;
      const auto keep_least = [](double& least, double time) {
        least = least > 0 && time > 0 ? std::min(least, time) : std::max(least, time);
      };
      for (std::size_t i = 0; i < times_.size(); ++i) keep_least(i % 2 == 0 ? general : special, times_[i]);
      if (special <= 0 || special > general * fraction_to_take) return refuse();
      break;
    }
  }
  tier_->state = Tier::State::taken;
  return Turn::over;
}

bool TierTrial::allocate(ContextState& context) {
  Backend& backend = *context.backend;
  std::uint64_t bytes = 0;
  const auto add = [&](const StorageSpec& spec) { bytes += backend.storage_class(spec).bytes; };
  for (const StorageSpec& spec : work_.inputs) add(spec);
  for (const TierWork::Output& output : work_.outputs) add(output.storage), add(output.storage);
  const std::uint64_t budget = context.options.memory_budget;
  if (bytes > most_trial_bytes || (budget > 0 && context.pool->info().bytes_in_use + bytes > budget)) return false;
  for (const StorageSpec& spec : work_.inputs) inputs_.push_back(backend.allocate(spec));
  for (const TierWork::Output& output : work_.outputs) {
    general_.push_back(backend.allocate(output.storage));
    special_.push_back(backend.allocate(output.storage));
  }
  return true;
}

void TierTrial::fill(Backend& backend, Numbers numbers) {
  RandomBits random;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const StorageSpec& spec = work_.inputs[i];
    backend.upload(*inputs_[i], spec.dtype, random_elements(random, spec, numbers == Numbers::any_bits));
  }
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

void TierTrial::measure(ContextState& context, const std::vector<Dispatch>& dispatches) {
  times_.assign(dispatches.size(), 0);
  has_times_ = false;
  if (context.backend->can_time()) {
    timed_as_ = context.timed_runs++;
    context.backend->run(dispatches, timed_as_);
    return;
  }
  context.backend->wait();
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const Stopwatch watch;
    context.backend->run(std::span(dispatches).subspan(i, 1), std::nullopt);
    context.backend->wait();
    times_[i] = 1000 * watch.milliseconds();
  }
  has_times_ = true;
}

bool TierTrial::timed(const TimedRun& run) {
  if (!timed_as_ || run.run != *timed_as_) return false;
  for (const DispatchTime& time : run.times)
    if (time.dispatch < times_.size()) times_[time.dispatch] = time.end - time.begin;
  timed_as_.reset();
  return has_times_ = true;
}

// Of the next elements, if there are any.
bool TierTrial::start_download(Backend& backend) {
  while (output_ < work_.outputs.size() && first_ >= work_.outputs[output_].storage.elements) ++output_, first_ = 0;
  if (output_ == work_.outputs.size()) return false;
  const StorageSpec& spec = work_.outputs[output_].storage;
  const auto most = static_cast<std::int64_t>(most_part_bytes / size_of(spec.dtype));
  count_ = std::min(spec.elements - first_, most);
  general_bytes_.resize(byte_count(count_, spec.dtype));
  special_bytes_.resize(general_bytes_.size());
  general_part_ = backend.download(*general_[output_], spec.dtype, first_, count_);
  special_part_ = backend.download(*special_[output_], spec.dtype, first_, count_);
  return true;
}

bool TierTrial::are_equal() const {
  if (general_bytes_ == special_bytes_) return true;
  const TierWork::Output& output = work_.outputs[output_];
  const std::size_t size = size_of(output.storage.dtype);
  for (std::size_t at = 0, element = 0; at < general_bytes_.size(); at += size, ++element) {
    std::uint32_t general = 0, special = 0;
    std::memcpy(&general, general_bytes_.data() + at, size);
    std::memcpy(&special, special_bytes_.data() + at, size);
    if (general == special || static_cast<int>(element % 4) >= output.channels) continue;
    if (!is_nan(output.storage.dtype, general) || !is_nan(output.storage.dtype, special)) return false;
  }
  return true;
}

}  // namespace tessera
