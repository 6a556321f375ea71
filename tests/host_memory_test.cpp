// Host memory that runs out: whichever allocation fails, nothing ends the program, nothing is lost and all goes on.
#include <cstdlib>
#include <new>

#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include <tessera/monitor.h>
#include <tessera/sharing.h>
#include <tessera/testing.h>

namespace {

// The nth next allocation of this thread fails; 0: none does. On the cpu, whose driver is tessera's own.
thread_local int allocations_until_failure = 0;

void* allocate(std::size_t bytes) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tessera::test::host_memory_test {
namespace {

constexpr std::int64_t side = 8;

std::vector<float> work(Context& context, const Tensor& kept, const Program& program, TensorHub& hub,
                        const std::filesystem::path& file) {
  const Tensor x = context.tensor({side, side}, std::vector<float>(side * side, 0.5f));
  Tensor y = relu(matmul(x, kept) + 1.0f);
  const std::vector<Tensor> out = program.run({y});
  hub.publish({"y", "m"}, out[0]);
  hub.view({"y", "m"}, {"v", "m"}, 4, 8);
  hub.share({"y", "m"}, {"n"});
  for (int i = 0; i < 4; ++i) y = (concat(std::vector{y, out[0]}, 0) * 0.25f).compute();
  hub.optimize_memory(0);
  hub.save(file);
  hub.load(file);
  context.why_resident(0);
  const Tensor last = sort(sum(y, {{0}})) + slice(hub.get({"v", "m"}), {0}, {1});
  return last.read_async().get();
}

TEST(HostMemory, AnyAllocationMayFail) {
  Context context = Context::create({.prefer = {BackendKind::cpu}, .memory_budget = 20 * side * side * 4});
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "hub.safetensors";
  const Tensor kept = context.full({side, side}, 0.25f).compute();
  const Program program = Program::record(context, {{.shape = {side, side}}}, [&](std::span<const Tensor> in) {
    return std::vector{in[0] * kept + 1.0f, max(in[0])};
  });
  TensorHub hub(context);
  const std::vector<float> expected = work(context, kept, program, hub, file);
  int failures = 0, errors = 0;
  for (int nth = 1;; ++nth) {
    allocations_until_failure = nth;
    bool was_refused = true;
    try {
      was_refused = work(context, kept, program, hub, file) != expected;
      EXPECT_FALSE(was_refused) << "a wrong result with allocation " << nth;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << nth << ": " << error.what();
      ++errors;
    } catch (const std::bad_alloc&) {
    }
    if (allocations_until_failure > 0) break;  // it needs fewer than that
    ++failures;
    ASSERT_EQ(work(context, kept, program, hub, file), expected) << "after the failure of allocation " << nth;
  }
  allocations_until_failure = 0;
  EXPECT_GT(failures, 500);
  EXPECT_GT(errors, 100);
  EXPECT_EQ(kept.read(), std::vector<float>(side * side, 0.25f));
}

}  // namespace
}  // namespace tessera::test::host_memory_test
