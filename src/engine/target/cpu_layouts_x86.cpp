#include <dnnl.hpp>

#include "engine/target/cpu_layouts.h"

namespace assay::engine {

int32_t channel_block(int instruction_set) {
  // Sets of bits: AVX2 with VNNI is the larger number, but has no AVX-512.
  const int avx512 = static_cast<int>(dnnl::cpu_isa::avx512_core);
  return (instruction_set & avx512) == avx512 ? 16 : 8;
}

std::vector<Layout> cpu_layouts() {
  return {Layout{channel_block(static_cast<int>(dnnl::get_effective_cpu_isa()))}, Layout::channels_last()};
}

}  // namespace assay::engine
