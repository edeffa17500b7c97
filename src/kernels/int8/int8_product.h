// Products of 8-bit integers with exact 32-bit sums. Operands are widened to 16 bits, with their zero points
// taken off, so no instruction saturates on the way.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Columns of the weights that lie together.
inline constexpr int64_t kInt8Columns = 16;
/// Rows of a tile are a multiple of this where they can be.
inline constexpr int64_t kInt8Rows = 12;
/// Longest sum that cannot overflow: each product is at most 255 * 255.
inline constexpr int64_t kMaxInt8Sum = (int64_t{1} << 31) / (255 * 255) - 1;

/// Elements of a row of the left operand: k, filled up to pairs.
constexpr int64_t int8_row_length(int64_t k) { return k + k % 2; }

/// The right operand: k rows of n columns. `wide`: 16-bit numbers, for weights less their zero point that
/// need 9 bits.
struct Int8Weights {
  int64_t n = 0, k = 0;
  bool wide = false;

  int64_t panels() const { return (n + kInt8Columns - 1) / kInt8Columns; }
  /// Bytes that they take packed.
  int64_t bytes() const { return panels() * panel_bytes(); }
  int64_t panel_bytes() const { return int8_row_length(k) * kInt8Columns * (wide ? 2 : 1); }
};

/// Packs weights less their zero points, which lie at source[row * row_stride + column * column_stride].
void pack_int8_weights(const Int8Weights& weights, const int16_t* source, int64_t row_stride,
                       int64_t column_stride, void* packed) noexcept;

/// to[i] = from[i] - zero_point, where `from` holds int8 or uint8.
void widen_int8(const void* from, bool is_signed, int zero_point, int16_t* to, int64_t count) noexcept;

/// sums[r, c] = sum over k of a[r, k] * weights[k, c] for the columns of `count` panels from `panel` on,
/// columns beyond n included. Rows of `a` are int8_row_length(k) long, zero beyond k; rows of `sums` are
/// `stride` apart.
void int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const int16_t* a, int64_t rows, int32_t* sums, int64_t stride) noexcept;

/// y[i] = sums[i] * scale[i] + bias[i]; bias may be null. `y` may be the memory of `sums`.
void scale_sums(const int32_t* sums, int64_t count, const float* scale, const float* bias, float* y) noexcept;

/// What remains of an epilogue that ends in QuantizeLinear.
struct Requantization {
  float low, high;  ///< bounds before it, as of Relu and Clip; infinite: none
  float scale;
  int zero_point;
  bool is_signed;
};

/// q[i] = saturate(round(clip(sums[i] * scale[i] + bias[i]) / r.scale) + r.zero_point). NaN becomes
/// the lower bound.
void requantize(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                const Requantization& r, void* q) noexcept;

}  // namespace assay::kernels
