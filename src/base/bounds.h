// Arithmetic of sizes that a file claims. No reader adds, multiplies or subtracts such numbers by itself: it
// asks here, or reads through something bounded (std::span, std::string_view::substr after within(),
// base/byte_reader.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace assay {

/// Whether the stretch [first, first + count) lies in [0, size). Nothing overflows.
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

/// Deflate packs at most this many bytes into one: a size beyond it is a lie.
inline constexpr uint64_t kMaxInflation = 1032;

/// Whether `inflated` bytes can come out of `deflated` ones.
constexpr bool can_inflate_to(uint64_t deflated, uint64_t inflated) {
  return inflated / kMaxInflation <= deflated;
}

}  // namespace assay
