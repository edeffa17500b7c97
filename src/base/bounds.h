// Checked arithmetic on sizes that a file claims. No reader adds, multiplies or subtracts such numbers
// directly: it calls these functions, or reads through bounded views (std::span, std::string_view::substr
// after within(), base/byte_reader.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace assay {

/// True when [first, first + count) is within [0, size). Never overflows.
constexpr bool within(uint64_t first, uint64_t count, uint64_t size) {
  return first <= size && count <= size - first;
}

/// The sum; nothing when it does not fit.
constexpr std::optional<uint64_t> checked_sum(std::initializer_list<uint64_t> terms) {
  uint64_t total = 0;
  for (const uint64_t t : terms)
    if (__builtin_add_overflow(total, t, &total)) return std::nullopt;
  return total;
}

/// The product; nothing when it does not fit, even where a later factor is 0.
constexpr std::optional<uint64_t> checked_product(std::initializer_list<uint64_t> factors) {
  uint64_t total = 1;
  for (const uint64_t f : factors)
    if (__builtin_mul_overflow(total, f, &total)) return std::nullopt;
  return total;
}

/// Deflate's maximum compression ratio: a size beyond it is forged.
inline constexpr uint64_t kMaxInflation = 1032;

/// True when `deflated` bytes can decompress to `inflated` ones.
constexpr bool can_inflate_to(uint64_t deflated, uint64_t inflated) {
  return inflated / kMaxInflation <= deflated;
}

}  // namespace assay
