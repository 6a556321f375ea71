#include "backend_cpu/family.h"
#include "core/ops/family.h"
#include "core/kernel/pointwise_table.h"

namespace tessera {

// As core/kernel/pointwise_table.h and core/ops/pointwise.cpp have them around the lines that a new operation adds.
#define F [](float a, [[maybe_unused]] float b, [[maybe_unused]] float c) -> float
#define I [](std::int32_t a, [[maybe_unused]] std::int32_t b, [[maybe_unused]] std::int32_t c) -> std::int32_t
constexpr PointwiseOp table[] = {
#include "adding_an_op/a_pointwise_operation.inc"
};
#undef F
#undef I
static_assert(table[0].name == "cube");

#define TESSERA_UNARY(name) \
  Tensor name(const Tensor& x) { return x; }
#include "adding_an_op/a_pointwise_operation_2.inc"

#include "adding_an_op/the_operation.inc"

namespace cpu {
#include "adding_an_op/the_host.inc"
}  // namespace cpu

}  // namespace tessera
