#include <tessera/scan.h>

#include "core/ops/axis_extent.h"
#include "core/ops/family.h"

namespace tessera {
namespace {

// x is [outer, count, inner], scanned along its second axis; positions count in the direction of the scan and are cut
// into blocks. The first entry scans each block for itself; scan_after, with the second operand [outer, blocks, inner],
// goes on from what is before each block; scan_totals gives [outer, blocks, inner], the whole of each block. Words:
// count, inner, elements of a block, 1 where exclusive, 1 where reverse, how x is read, blocks. Options: 1 for
// products.
constexpr FamilyEntry scan_run{.name = "scan_run", .file = "scan"};
constexpr FamilyEntry scan_after{.name = "scan_after", .file = "scan"};
constexpr FamilyEntry scan_totals{.name = "scan_totals", .file = "scan", .reads_once = true};

// Each result reads its block up to itself: one kernel does a short axis, and blocks are shorter still.
constexpr std::int64_t longest_run = 256, block_length = 64;

// How the four elements of a texel lie: anywhere, side by side along the axis, or side by side across it.
enum class Lie : std::uint32_t { anywhere, along, across };

Lie lie_of(std::int64_t count, std::int64_t inner) {
  return inner % 4 == 0 ? Lie::across : inner == 1 && count % 4 == 0 ? Lie::along : Lie::anywhere;
}

Tensor scan(const Tensor& x, int axis, const Scan& options, bool is_product) {
  const AxisExtent along(x.shape(), axis);
  const std::int64_t count = along.count, inner = along.inner;
  const std::int64_t block = count <= longest_run ? longest_run : block_length, blocks = (count + block - 1) / block;
  const DType wide = is_float(x.dtype()) ? DType::f32 : DType::i32;
  const auto family = [&](const FamilyEntry& entry) {
    return Family{.entry = &entry,
                  .options = {is_product},
                  .words = {word_of(count), word_of(inner), word_of(block), options.exclusive, options.reverse,
                            static_cast<std::uint32_t>(lie_of(count, inner)), word_of(blocks)}};
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
