#include <cstdlib>
#include <string_view>

#include "kernels/int8/vnni_depthwise.h"
#include "kernels/int8/vnni_product.h"
#include "kernels/native_kernels.h"
#include "kernels/panel/bfloat16_tiles.h"

namespace assay::kernels {
namespace {

bool is_baseline_wanted() {
  const char* const wanted = std::getenv("ASSAY_SIMD");
  return wanted != nullptr && std::string_view(wanted) == "baseline";
}

NativeKernels find_kernels() {
  NativeKernels found;
  const bool has_avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (has_avx512 && __builtin_cpu_supports("avx512vnni") && !is_baseline_wanted()) {
    found.int8_product = vnni_product;
    found.int8_product_quantized = vnni_product_quantized;
    found.depthwise = vnni_depthwise;
    found.depthwise_quantized = vnni_depthwise_quantized;
  }
  if (has_avx512 && __builtin_cpu_supports("avx512bf16")) found.bfloat16_product = multiply_bfloat16_tiles;
  return found;
}

}  // namespace

const NativeKernels& native_kernels() noexcept {
  static const NativeKernels kFound = find_kernels();
  return kFound;
}

}  // namespace assay::kernels
