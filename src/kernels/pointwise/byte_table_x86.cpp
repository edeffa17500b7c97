#include "kernels/pointwise/byte_table_x86.h"

#include <immintrin.h>

#define ASSAY_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

namespace assay::kernels {
namespace {

/// The table in registers.
struct VbmiTable {
  __m512i first, second, third, fourth;

  /// An instruction takes the entry in 128 that the low 7 bits name; the highest bit says in which half.
  ASSAY_VBMI __m512i of(__m512i x) const {
    const __m512i low = _mm512_permutex2var_epi8(first, x, second),
                  high = _mm512_permutex2var_epi8(third, x, fourth);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
  }
};

}  // namespace

ASSAY_VBMI void look_up_vbmi(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) noexcept {
  constexpr int64_t kLanes = 64;
  const VbmiTable t{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                    _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes)
    for (int64_t v = i; v < i + 4 * kLanes; v += kLanes)
      _mm512_storeu_si512(y + v, t.of(_mm512_loadu_si512(x + v)));
  for (; i + kLanes <= count; i += kLanes) _mm512_storeu_si512(y + i, t.of(_mm512_loadu_si512(x + i)));
  if (i == count) return;
  const __mmask64 rest = ~__mmask64{0} >> (kLanes - (count - i));
  _mm512_mask_storeu_epi8(y + i, rest, t.of(_mm512_maskz_loadu_epi8(rest, x + i)));
}

}  // namespace assay::kernels
