// The instruction sets that vector kernels are compiled for; include before <hwy/foreach_target.h>.
#pragma once

// 128-bit x86 beyond the baseline and AVX-512's later extensions do not help float32 arithmetic.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

/// Before a loop over registers of a tile: without it their array stays in memory.
#define ASSAY_UNROLL _Pragma("GCC unroll 16")

/// Behind HWY_ATTR of a lambda that takes arrays of vectors: a call would move them through memory.
#define ASSAY_INLINED __attribute__((always_inline))
