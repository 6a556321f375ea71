#include "core/run/trial_parts.h"

#include <algorithm>
#include <cstring>

#include "core/run/context_state.h"

namespace tessera {
namespace {

// Xorshift.
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

std::uint32_t magnitude(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f32) return bits & 0x7fffffffu;
  return dtype == DType::f16 ? bits & 0x7fffu : bits;
}

// 0 to 4, and a sign.
std::uint32_t whole(DType dtype, std::uint32_t bits) {
  constexpr std::uint32_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  constexpr std::uint32_t floats[] = {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000};
  const std::uint32_t number = (bits >> 8) % 5;
  if (dtype == DType::f32) return floats[number] | (bits & 0x80000000u);
  if (dtype == DType::f16) return halves[number] | (bits & 0x8000u);
  return ordinary(dtype, bits);
}

std::uint32_t trial_number(DType dtype, std::uint32_t bits, TrialNumbers numbers) {
  switch (numbers) {
    case TrialNumbers::ordinary: return ordinary(dtype, bits);
    case TrialNumbers::magnitudes: return magnitude(dtype, ordinary(dtype, bits));
    case TrialNumbers::whole: return whole(dtype, bits);
    case TrialNumbers::any_bits: break;
  }
  if (dtype == DType::boolean) return ordinary(dtype, bits);
  return (bits & 0x70u) == 0 ? 0 : bits;
}

bool is_nan(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f32) return (bits & 0x7fffffffu) > 0x7f800000u;
  return dtype == DType::f16 && (bits & 0x7fffu) > 0x7c00u;
}

}  // namespace

// They repeat themselves, since calls wait while they are made, but fit no row or block.
void fill_for_trial(Backend& backend, std::span<const std::unique_ptr<Storage>> storages,
                    std::span<const StorageSpec> specs, TrialNumbers numbers) {
  constexpr std::size_t most_different = 65'521;  // a prime
  RandomBits random;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    const StorageSpec& spec = specs[i];
    const std::size_t size = size_of(spec.dtype);
    std::vector<std::byte> bytes(byte_count(spec.elements, spec.dtype));
    const std::size_t different = std::min(bytes.size(), size * most_different);
    for (std::size_t at = 0; at < different; at += size) {
      const std::uint32_t bits = trial_number(spec.dtype, random.next(), numbers);
      std::memcpy(bytes.data() + at, &bits, size);
    }
    for (std::size_t at = different; at < bytes.size(); at += different)
      std::memcpy(bytes.data() + at, bytes.data(), std::min(different, bytes.size() - at));
    backend.upload(*storages[i], spec.dtype, bytes);
  }
}

bool have_same_bits(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b, int channels) {
  if (std::ranges::equal(a, b)) return true;
  const std::size_t size = size_of(dtype);
  for (std::size_t at = 0, element = 0; at < a.size(); at += size, ++element) {
    std::uint32_t bits_of_a = 0, bits_of_b = 0;
    std::memcpy(&bits_of_a, a.data() + at, size);
    std::memcpy(&bits_of_b, b.data() + at, size);
    if (bits_of_a == bits_of_b || static_cast<int>(element % 4) >= channels) continue;
    if (!is_nan(dtype, bits_of_a) || !is_nan(dtype, bits_of_b)) return false;
  }
  return true;
}

bool has_room_for_trial(const ContextState& context, std::uint64_t bytes) {
  const std::uint64_t budget = context.options.memory_budget;
  const MemoryInfo memory = context.pool->info();
  return bytes <= most_trial_bytes && (budget == 0 || memory.bytes_in_use + memory.bytes_pooled + bytes <= budget);
}

void TrialClock::measure(ContextState& context, const std::vector<Dispatch>& dispatches) {
  times_.assign(dispatches.size(), 0);
  is_ready_ = false;
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
  is_ready_ = true;
}

bool TrialClock::timed(const TimedRun& run) {
  if (!timed_as_ || run.run != *timed_as_) return false;
  for (const DispatchTime& time : run.times)
    if (time.dispatch < times_.size()) times_[time.dispatch] = time.end - time.begin;
  timed_as_.reset();
  return is_ready_ = true;
}

TimesInTurns::TimesInTurns(double usual_time)
    : left_(static_cast<int>(std::clamp(time_of_turns / std::max(2 * usual_time, 1.0), 6.0, 12.0))) {}

void TimesInTurns::note(double usual, double tried) {
  if (usual == 0 || tried == 0) return;
  const auto keep_least = [](double& least, double time) { least = least > 0 ? std::min(least, time) : time; };
  keep_least(least_usual_, usual);
  keep_least(least_tried_, tried);
  ++timed_;
  if (tried < usual) ++won_;
}

bool TimesInTurns::is_tried_faster() const {
  return timed_ > 0 && 4 * won_ >= 3 * timed_ && least_tried_ < fraction_to_take * least_usual_;
}

bool TrialReader::start_next(Backend& backend) {
  first_ += count_;
  if (first_ >= spec_.elements) return false;
  count_ = std::min(spec_.elements - first_, static_cast<std::int64_t>(most_part_bytes / size_of(spec_.dtype)));
  for (std::size_t i = 0; i < storages_.size(); ++i)
    parts_[i] = backend.download(*storages_[i], spec_.dtype, first_, count_);
  return true;
}

bool TrialReader::is_ready() {
  return std::all_of(parts_.begin(), parts_.end(), [](const std::unique_ptr<Download>& part) { return part->ready(); });
}

void TrialReader::take() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    bytes_[i].resize(byte_count(count_, spec_.dtype));
    parts_[i]->take(bytes_[i]);
    parts_[i].reset();
  }
}

}  // namespace tessera
