// The parts of trials: numbers to try kernels on, times, and results to compare.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

struct ContextState;

// The storages of a trial, all together, and what is downloaded of one at once.
constexpr std::uint64_t most_trial_bytes = std::uint64_t{128} << 20;
constexpr std::uint64_t most_part_bytes = std::uint64_t{1} << 20;
// In microseconds: kernels that take less are not worth a trial.
constexpr double least_trial_time = 20;
// Which part of the time of another kernel one may take to be put in its place.
constexpr double fraction_to_take = 0.95;
// In microseconds, of the device, for a round of turns.
constexpr double time_of_turns = 50'000;

// Of two times, of which 0 is none that is known.
inline double least_known(double a, double b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

enum class TrialNumbers : std::uint8_t {
  ordinary,
  magnitudes,  // of the ordinary ones
  whole,       // from -4 to 4: floats add up products of them exactly, in whichever order
  any_bits,
};

// Fills the storages, which have these sizes. The same numbers in every run of a program.
void fill_for_trial(Backend&, std::span<const std::unique_ptr<Storage>>, std::span<const StorageSpec>, TrialNumbers);

// Whether results are the same, but for the bits of NaN, and for those elements of each four that do not count.
bool have_same_bits(DType, std::span<const std::byte>, std::span<const std::byte>, int channels = 4);

// Whether so many bytes are left for a trial.
bool has_room_for_trial(const ContextState&, std::uint64_t bytes);

// The times of dispatches: by the device's timers or, where it has none, by waiting for each.
class TrialClock {
 public:
  void measure(ContextState&, const std::vector<Dispatch>&);
  bool is_ready() const { return is_ready_; }
  bool timed(const TimedRun&);                                 // whether the times are these
  const std::vector<double>& times() const { return times_; }  // in microseconds; 0: not known

 private:
  std::optional<std::uint64_t> timed_as_;
  std::vector<double> times_;
  bool is_ready_ = false;
};

// Times of two ways to do the same, which take turns: in submissions of their own, so that other work which comes
// meanwhile waits for no more than one turn.
class TimesInTurns {
 public:
  TimesInTurns() = default;
  explicit TimesInTurns(double usual_time);  // roughly: it says how many turns there are

  bool take_turn() { return left_-- > 0; }
  void note(double usual, double tried);  // in microseconds; 0: not known
  bool is_tried_faster() const;           // by the least time, and in most of the turns
  double least_tried() const { return least_tried_; }

 private:
  int left_ = 0, timed_ = 0, won_ = 0;
  double least_usual_ = 0, least_tried_ = 0;
};

// Reads storages of the same sizes side by side, a part at a time.
class TrialReader {
 public:
  TrialReader(std::vector<const Storage*> storages, const StorageSpec& spec)
      : storages_(std::move(storages)), spec_(spec), parts_(storages_.size()), bytes_(storages_.size()) {}

  bool start_next(Backend&);  // false where all is read
  bool is_ready();
  void take();  // once, when ready
  std::span<const std::byte> bytes(std::size_t storage) const { return bytes_[storage]; }
  DType dtype() const { return spec_.dtype; }

 private:
  std::vector<const Storage*> storages_;
  StorageSpec spec_;
  std::int64_t first_ = 0, count_ = 0;
  std::vector<std::unique_ptr<Download>> parts_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace tessera
