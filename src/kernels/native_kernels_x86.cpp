#include <cpuid.h>

#include <cstdlib>
#include <string_view>

#include "kernels/amx_x86.h"
#include "kernels/int8/amx_product.h"
#include "kernels/int8/vnni_depthwise.h"
#include "kernels/int8/vnni_product.h"
#include "kernels/native_kernels.h"
#include "kernels/nbits/rounded_nbits_x86.h"
#include "kernels/panel/amx_tiles.h"
#include "kernels/panel/bfloat16_tiles.h"
#include "kernels/pointwise/byte_table_x86.h"

namespace assay::kernels {
namespace {

/// ASSAY_SIMD=baseline leaves out all that not every processor has, avx512 only AMX.
bool is_wanted(std::string_view set) {
  const char* const wanted = std::getenv("ASSAY_SIMD");
  return wanted != nullptr && wanted == set;
}

/// GCC 12 has no name for it.
bool has_avx_vnni() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 4 & 1U) != 0;
}

void find_rounded_nbits(bool has_avx512_vnni, NativeKernels& found) {
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  found.rounded_nbits_bits = 8;
  if (has_avx512_vnni && __builtin_cpu_supports("avx512dq")) {
    found.rounded_nbits = rounded_nbits_avx512;
  } else if (has_avx2 && has_avx_vnni()) {
    found.rounded_nbits = rounded_nbits_avx_vnni;
  } else if (has_avx2) {
    found.rounded_nbits = rounded_nbits_avx2;
    found.rounded_nbits_bits = 4;
  }
}

NativeKernels find_kernels() {
  NativeKernels found;
  const bool is_baseline = is_wanted("baseline");
  const bool may_tile = !is_baseline && !is_wanted("avx512");
  const bool has_avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const bool has_vnni = has_avx512 && __builtin_cpu_supports("avx512vnni");
  if (!is_baseline) find_rounded_nbits(has_vnni, found);
  if (has_vnni && !is_baseline) {
    const bool tiles = may_tile && may_use_amx(AmxNumbers::kInt8);
    found.int8_product = tiles ? amx_int8_product : vnni_product;
    found.int8_product_quantized = tiles ? amx_int8_product_quantized : vnni_product_quantized;
    found.depthwise = vnni_depthwise;
    found.depthwise_quantized = vnni_depthwise_quantized;
  }
  if (has_avx512 && !is_baseline && __builtin_cpu_supports("avx512vbmi")) found.look_up = look_up_vbmi;
  if (has_avx512 && __builtin_cpu_supports("avx512bf16")) {
    const bool tiles = may_tile && may_use_amx(AmxNumbers::kBFloat16);
    found.bfloat16_rows = round_bfloat16_rows;
    found.bfloat16_product = tiles ? multiply_bfloat16_amx : multiply_bfloat16_tiles;
  }
  return found;
}

}  // namespace

const NativeKernels& native_kernels() noexcept {
  static const NativeKernels kFound = find_kernels();
  return kFound;
}

}  // namespace assay::kernels
