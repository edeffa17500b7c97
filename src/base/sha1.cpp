#include "base/sha1.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay {
namespace {

using State = Sha1::State;

uint32_t big_endian(const unsigned char* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

}  // namespace

/// FIPS 180-4, 6.1.2.
void internal::mix_plainly(Sha1::State& state, const unsigned char* block, size_t blocks) {
  for (; blocks > 0; --blocks, block += Sha1::kBlock) {
    std::array<uint32_t, 80> w;
    for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (size_t i = 0; i < 80; ++i) {
      const uint32_t f = i < 20              ? (b & c) | (~b & d)
                         : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                             : b ^ c ^ d;
      constexpr std::array<uint32_t, 4> kRound = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
      const uint32_t t = std::rotl(a, 5) + f + e + kRound[i / 20] + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = t;
    }
    const Sha1::State added = {a, b, c, d, e};
    for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
  }
}

namespace {

#if defined(__x86_64__)
/// Four rounds each, of the kind `kKind`; the message words of the rounds to come are made on the way.
template <int kKind>
[[gnu::target("sha,sse4.1"), gnu::always_inline]] inline void rounds(__m128i& abcd, __m128i& e,
                                                                     __m128i words) {
  const __m128i before = abcd;
  abcd = _mm_sha1rnds4_epu32(abcd, _mm_sha1nexte_epu32(e, words), kKind);
  e = before;
}

[[gnu::target("sha,sse4.1")]] void mix_with_instructions(State& state, const unsigned char* block,
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
#endif

void mix(State& state, const unsigned char* block, size_t blocks) {
#if defined(__x86_64__)
  static const bool has_instructions = __builtin_cpu_supports("sse4.1") != 0 && [] {
    // GCC 12 has no name for this bit: leaf 7, EBX bit 29.
    unsigned a = 7, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (b >> 29 & 1U) != 0;
  }();
  if (has_instructions) return mix_with_instructions(state, block, blocks);
#endif
  internal::mix_plainly(state, block, blocks);
}

}  // namespace

void Sha1::update(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  if (const size_t filled = size_ % kBlock; filled > 0) {
    const size_t n = std::min(left, kBlock - filled);
    std::memcpy(rest_.data() + filled, at, n);
    size_ += n;
    at += n;
    left -= n;
    if (size_ % kBlock != 0) return;
    mix(state_, rest_.data(), 1);
  }
  mix(state_, at, left / kBlock);
  if (left % kBlock > 0) std::memcpy(rest_.data(), at + left / kBlock * kBlock, left % kBlock);
  size_ += left;
}

std::string Sha1::digest() const {
  Sha1 ended = *this;
  std::string padding(1 + (kBlock + 55 - size_ % kBlock) % kBlock, '\0');
  padding[0] = '\x80';
  for (int i = 7; i >= 0; --i) padding += static_cast<char>(size_ * 8 >> (8 * i));
  ended.update(padding);
  std::string text;
  for (const uint32_t word : ended.state_) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace assay
