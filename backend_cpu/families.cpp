// Every family's functions, in one list.
#include "backend_cpu/family.h"

namespace tessera::cpu {

std::span<const FamilyFunction> attention_functions();
std::span<const FamilyFunction> colour_functions();
std::span<const FamilyFunction> conv_functions();
std::span<const FamilyFunction> fft_functions();
std::span<const FamilyFunction> filter_functions();
std::span<const FamilyFunction> gather_functions();
std::span<const FamilyFunction> histogram_functions();
std::span<const FamilyFunction> matmul_functions();
std::span<const FamilyFunction> pooling_functions();
std::span<const FamilyFunction> random_functions();
std::span<const FamilyFunction> reduce_functions();
std::span<const FamilyFunction> resize_functions();
std::span<const FamilyFunction> row_functions();
std::span<const FamilyFunction> scan_functions();
std::span<const FamilyFunction> sort_functions();
std::span<const FamilyFunction> warp_functions();

const FamilyFunction* find_family_function(std::string_view entry) {
  const std::initializer_list<std::span<const FamilyFunction>> families = {
      attention_functions(), colour_functions(), conv_functions(),      fft_functions(),
      filter_functions(),    gather_functions(), histogram_functions(), matmul_functions(),
      pooling_functions(),   random_functions(), reduce_functions(),    resize_functions(),
      row_functions(),       scan_functions(),   sort_functions(),      warp_functions(),
  };
  for (const std::span<const FamilyFunction> family : families)
    for (const FamilyFunction& function : family)
      if (function.entry == entry) return &function;
  return nullptr;
}

}  // namespace tessera::cpu
