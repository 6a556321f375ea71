#include <tessera/scan.h>

#include "core/kernel/scan_parameters.h"
#include "core/ops/axis_extent.h"
#include "core/ops/family.h"

namespace tessera {
namespace {

// Scans each block by itself.
constexpr KernelEntry<ScanParameters, ScanOptions> scan_run{{.name = "scan_run", .file = "scan"}};
// Scans each block on from the total before it, which the second operand, [outer, blocks, inner], has.
constexpr KernelEntry<ScanParameters, ScanOptions> scan_after{{.name = "scan_after", .file = "scan"}};
// The total of each block: [outer, blocks, inner].
constexpr KernelEntry<ScanParameters, ScanOptions> scan_totals{
    {.name = "scan_totals", .file = "scan", .reads_once = true}};

// Each result reads its block up to itself: one kernel does a short axis, and blocks are shorter still.
constexpr std::int64_t longest_run = 256, block_length = 64;

TexelLie lie_of(std::int64_t count, std::int64_t inner) {
  return inner % 4 == 0 ? TexelLie::across : inner == 1 && count % 4 == 0 ? TexelLie::along : TexelLie::anywhere;
}

Tensor scan(const Tensor& x, int axis, const Scan& options, bool is_product) {
  const AxisExtent along(x.shape(), axis);
  const std::int64_t count = along.count, inner = along.inner;
  const std::int64_t block = count <= longest_run ? longest_run : block_length, blocks = (count + block - 1) / block;
  const DType wide = is_float(x.dtype()) ? DType::f32 : DType::i32;
  const auto family = [&](const KernelEntry<ScanParameters, ScanOptions>& entry) {
    return entry.with({.count = count,
                       .inner = inner,
                       .block_length = block,
                       .is_exclusive = options.exclusive,
                       .is_reverse = options.reverse,
                       .texel_lie = static_cast<std::int64_t>(lie_of(count, inner)),
                       .blocks = blocks},
                      {.is_product = is_product});
  };
  if (blocks == 1) return family_tensor(x.shape(), wide, family(scan_run), {x});
  const Tensor totals = family_tensor({along.outer, blocks, inner}, wide, family(scan_totals), {x});
  const Tensor before = scan(totals, 1, {.exclusive = true}, is_product);
  return family_tensor(x.shape(), wide, family(scan_after), {x, before});
}

Tensor checked_scan(std::string_view name, const Tensor& x, int axis, const Scan& options, bool is_product) {
  check_dtype(name, x, x.dtype() != DType::boolean, "floats and integers");
  const int checked = checked_axis(name, axis, x.shape().rank());
  if (x.shape().size() == 0) return x;
  return scan(x, checked, options, is_product).cast(x.dtype());
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, const Scan& options) {
  return checked_scan("cumsum", x, axis, options, false);
}
Tensor cumprod(const Tensor& x, int axis, const Scan& options) {
  return checked_scan("cumprod", x, axis, options, true);
}

}  // namespace tessera
