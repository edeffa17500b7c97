// The instruction sets of Highway's names that an x86-64 processor has.
#include <hwy/targets.h>

#include "kernels/optional_targets.h"

namespace assay::kernels {
namespace {

// Each of Highway's targets includes the one before it.

bool has_ssse3() { return __builtin_cpu_supports("ssse3"); }

bool has_sse4() {
  return has_ssse3() && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
}

bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
}

bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
}

}  // namespace

int64_t optional_targets() {
  int64_t targets = 0;
  if (has_ssse3()) targets |= HWY_SSSE3;
  if (has_sse4()) targets |= HWY_SSE4;
  if (has_avx2()) targets |= HWY_AVX2;
  if (has_avx3()) targets |= HWY_AVX3;
  return targets;
}

}  // namespace assay::kernels
