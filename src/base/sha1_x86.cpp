// SHA-1 by the instructions that some x86-64 processors have for it.
#include <immintrin.h>

#include "base/sha1.h"

namespace assay {
namespace {

/// Four rounds each, of the kind `kKind`; also computes the message words of later rounds.
template <int kKind>
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void rounds(__m128i& abcd, __m128i& e,
                                                                     __m128i words) {
  const __m128i before = abcd;
  abcd = _mm_sha1rnds4_epu32(abcd, _mm_sha1nexte_epu32(e, words), kKind);
  e = before;
}

[[gnu::target("sha,sse4.1")]] void mix_by_fours(Sha1::State& state, const unsigned char* block,
                                                size_t blocks) {
  const __m128i order = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
  __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data())), 0x1B);
  uint32_t last = state[4];
  for (; blocks > 0; --blocks, block += Sha1::kBlock) {
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), order);
    const __m128i abcd_before = abcd;
    // The first four rounds add `e` as it is; later ones get it from four rounds before, rotated.
    __m128i e = abcd;
    abcd = _mm_sha1rnds4_epu32(abcd, _mm_add_epi32(w[0], _mm_set_epi32(static_cast<int>(last), 0, 0, 0)), 0);
    const auto next = [&](int i) __attribute__((target("sha,sse4.1"), always_inline)) {
      if (i >= 4) {
        __m128i& oldest = w[i % 4];
        oldest = _mm_sha1msg1_epu32(oldest, w[(i + 1) % 4]);
        oldest = _mm_xor_si128(oldest, w[(i + 2) % 4]);
        oldest = _mm_sha1msg2_epu32(oldest, w[(i + 3) % 4]);
      }
      return w[i % 4];
    };
#pragma GCC unroll 5
    for (int i = 1; i < 5; ++i) rounds<0>(abcd, e, next(i));
#pragma GCC unroll 5
    for (int i = 5; i < 10; ++i) rounds<1>(abcd, e, next(i));
#pragma GCC unroll 5
    for (int i = 10; i < 15; ++i) rounds<2>(abcd, e, next(i));
#pragma GCC unroll 5
    for (int i = 15; i < 20; ++i) rounds<3>(abcd, e, next(i));
    // nexte rotates the word that `e` has become and adds what it is given.
    last = static_cast<uint32_t>(
        _mm_extract_epi32(_mm_sha1nexte_epu32(e, _mm_set_epi32(static_cast<int>(last), 0, 0, 0)), 3));
    abcd = _mm_add_epi32(abcd, abcd_before);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_shuffle_epi32(abcd, 0x1B));
  state[4] = last;
}

bool has_instructions() {
  // GCC 12 has no name for this bit: leaf 7, EBX bit 29.
  unsigned a = 7, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return __builtin_cpu_supports("sse4.1") != 0 && (b >> 29 & 1U) != 0;
}

}  // namespace

internal::Sha1Mix* internal::mix_with_instructions() {
  static const bool kHas = has_instructions();
  return kHas ? mix_by_fours : nullptr;
}

}  // namespace assay
