#include "base/sha1.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

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

void mix(State& state, const unsigned char* block, size_t blocks) {
  static const auto kMix = internal::mix_with_instructions() != nullptr ? internal::mix_with_instructions()
                                                                        : internal::mix_plainly;
  kMix(state, block, blocks);
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
