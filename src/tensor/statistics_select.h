// Order statistics by radix selection; internal to statistics.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "tensor/numbers.h"

namespace assay::internal {

/// Unsigned integers that are ordered as the numbers are. -0 and 0 have the same key; NaN must not occur.
template <typename T>
struct SortKey;
template <>
struct SortKey<float> {
  using Type = uint32_t;
  static Type of(float x) {
    const auto bits = std::bit_cast<uint32_t>(x + 0.0f);
    return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
  }
  static double value(Type key) { return std::bit_cast<float>(key & 0x80000000u ? key ^ 0x80000000u : ~key); }
};
template <>
struct SortKey<double> {
  using Type = uint64_t;
  static Type of(double x) {
    const auto bits = std::bit_cast<uint64_t>(x + 0.0);
    return bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) | (uint64_t{1} << 63));
  }
  static double value(Type key) {
    return std::bit_cast<double>(key >> 63 ? key ^ (uint64_t{1} << 63) : ~key);
  }
};
template <>
struct SortKey<int64_t> {
  using Type = uint64_t;
  static Type of(int64_t x) { return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63); }
  static double value(Type key) {
    return static_cast<double>(static_cast<int64_t>(key ^ (uint64_t{1} << 63)));
  }
};
template <>
struct SortKey<uint64_t> {
  using Type = uint64_t;
  static Type of(uint64_t x) { return x; }
  static double value(Type key) { return static_cast<double>(key); }
};

/// The first histogram counts the elements by this many leading bits of their keys.
inline constexpr int kLeadingBits = 14;
/// Up to so many elements there is no first histogram.
inline constexpr int64_t kSelectDirectly = 2048;

template <typename T>
uint32_t leading_bits(T x) {
  using Key = typename SortKey<T>::Type;
  return static_cast<uint32_t>(SortKey<T>::of(x) >> (sizeof(Key) * 8 - kLeadingBits));
}

/// The elements that stand at `ranks` (ascending, in [0, size)) when all are sorted. No element may be NaN.
/// `leading` counts the elements by their leading bits; it may be empty up to kSelectDirectly elements.
/// `zero_count` elements are zero.
std::vector<double> order_statistics(const Numbers& numbers, const std::vector<int64_t>& leading,
                                     int64_t zero_count, std::span<const int64_t> ranks);

}  // namespace assay::internal
