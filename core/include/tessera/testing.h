// Faults on demand, for tests of programs that must survive them.
#pragma once
#include <chrono>

#include <tessera/program.h>

namespace tessera::testing {

TESSERA_API void lose_device(Context&);  // as if the driver had reset
enum class Moment { before, after };
TESSERA_API void lose_device(Context&, Moment, int nth);  // around the nth next submission
TESSERA_API void fail_allocation(Context&, int nth);      // the nth next device allocation fails
TESSERA_API void fail_sharing(Context&, int nth);  // the nth next crossing without the host fails, see Tensor::to

// From now on, the first dispatch in sliced runs of the program counts as measured to take costs[0] milliseconds, and
// so on; further ones as the last.
TESSERA_API void set_costs(const Program&, std::vector<double> costs);

// From now on, kernels that were on trial (Tuning) are taken whether they are faster or not, also where others wait for
// the driver's compiler: of variants, the last one that gives the right results. With Tuning::eager, trials begin after
// the second run.
TESSERA_API void take_all_tiers(Context&);
enum class Tried { tiers, variants };
TESSERA_API void try_only(Context&, Tried);
TESSERA_API void finish_tiers(Context&);  // returns when none is on trial
// From now on, kernels of which there are n variants take number `number % n`, without a trial.
TESSERA_API void take_variants(Context&, std::size_t number);

// The clock by which plans are old enough for trials (Tuning::automatic) stands still from now on, in the whole
// process, but for what it is moved by: so nothing goes on trial unasked.
TESSERA_API void stop_clock();
TESSERA_API void move_clock(std::chrono::milliseconds);

// The number of operations and tensors in this program now, of all contexts: constant in a program that leaks none.
TESSERA_API std::int64_t live_nodes();

}  // namespace tessera::testing
