#include "kernels/int8/int8_product.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/native_kernels.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
#if HWY_TARGET == HWY_AVX2

/// Rows whose sums the registers can hold.
inline constexpr int64_t kRows = 2;
inline constexpr int64_t kVectors = kInt8Columns / 8;
/// From so many marks among kInt8Marks on all are treated as marked.
inline constexpr int kManyMarks = 24;

/// Sums of R rows and the columns of a panel. vpmaddubsw multiplies 32 bytes at a time and adds pairs in 16
/// bits. Where weights are marked, these do not fit; those of halves of levels, at most 127, do, and so do
/// those of what is left, 0 or 1.
template <int64_t R>
struct PanelSums {
  __m256i sums[R][kVectors];

  static HWY_INLINE __m256i levels(const uint8_t* a) {
    int32_t four;
    std::memcpy(&four, a, sizeof four);
    return _mm256_set1_epi32(four);
  }
  static HWY_INLINE __m256i half(__m256i levels) {
    return _mm256_and_si256(_mm256_srli_epi16(levels, 1), _mm256_set1_epi8(127));
  }
  static HWY_INLINE __m256i last_bit(__m256i levels) { return _mm256_and_si256(levels, _mm256_set1_epi8(1)); }
  static HWY_INLINE __m256i load(const int8_t* weights, int64_t v) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + v * 32));
  }
  static HWY_INLINE __m256i plus_quads_of_rows(__m256i sum, __m256i pairs, int16_t factor) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(factor)));
  }

  HWY_INLINE void clear() {
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = _mm256_setzero_si256();
  }
  /// `fours` of rows without a mark.
  HWY_INLINE void add(const uint8_t* a, int64_t a_stride, int64_t fours, const int8_t* weights) {
    for (int64_t k = 0; k < 4 * fours; k += 4, weights += 4 * kInt8Columns) {
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) {
        const __m256i x = levels(a + r * a_stride + k);
        ASSAY_UNROLL
        for (int64_t v = 0; v < kVectors; ++v)
          sums[r][v] = plus_quads_of_rows(sums[r][v], _mm256_maddubs_epi16(x, load(weights, v)), 1);
      }
    }
  }
  /// Marked or not; at most kInt8Marks, so that the sums of last bits' products, of 256 at most, fit in 16
  /// bits.
  HWY_INLINE void add_marked(const uint8_t* a, int64_t a_stride, int64_t fours, const int8_t* weights) {
    __m256i rest[R][kVectors];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) rest[r][v] = _mm256_setzero_si256();
    for (int64_t k = 0; k < 4 * fours; k += 4, weights += 4 * kInt8Columns) {
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) {
        const __m256i x = levels(a + r * a_stride + k), halves = half(x), bits = last_bit(x);
        ASSAY_UNROLL
        for (int64_t v = 0; v < kVectors; ++v) {
          const __m256i w = load(weights, v);
          sums[r][v] = plus_quads_of_rows(sums[r][v], _mm256_maddubs_epi16(halves, w), 2);
          rest[r][v] = _mm256_add_epi16(rest[r][v], _mm256_maddubs_epi16(bits, w));
        }
      }
    }
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = plus_quads_of_rows(sums[r][v], rest[r][v], 1);
  }
};

template <int64_t R>
HWY_INLINE void tile(const uint8_t* a, int64_t a_stride, int64_t length, const int8_t* weights,
                     const uint64_t* marks, int32_t* to, int64_t stride) {
  PanelSums<R> sums;
  sums.clear();
  for (int64_t left = length / 4; left > 0; left -= kInt8Marks, ++marks) {
    const int64_t fours = std::min(left, kInt8Marks);
    uint64_t bits = *marks;
    if (bits != 0 && std::popcount(bits) * kInt8Marks >= kManyMarks * fours) {
      sums.add_marked(a, a_stride, fours, weights);
    } else {
      for (int64_t i = 0; i < fours;) {
        const int64_t plain = std::min<int64_t>(std::countr_zero(bits), fours - i);
        sums.add(a + 4 * i, a_stride, plain, weights + 4 * kInt8Columns * i);
        i += plain;
        if (i == fours) break;
        sums.add_marked(a + 4 * i, a_stride, 1, weights + 4 * kInt8Columns * i);
        ++i;
        bits = i < fours ? *marks >> i : 0;
      }
    }
    a += 4 * fours;
    weights += 4 * kInt8Columns * fours;
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * stride + v * 8), sums.sums[r][v]);
}

#elif HWY_TARGET != HWY_SCALAR
using I32 = hn::CappedTag<int32_t, kInt8Columns>;
using I16 = hn::Repartition<int16_t, I32>;
using V32 = hn::Vec<I32>;
using V16 = hn::Vec<I16>;

/// A vector has two sums, of pairs, for each of its columns; rows that the registers can hold the sums of.
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(I32()));
inline constexpr int64_t kVectors = 2 * kInt8Columns / kLanes;
inline constexpr int64_t kRows = std::max<int64_t>(kInt8Rows / kVectors, 1);

HWY_INLINE V16 load_weights(const int8_t* p) {
  const hn::Rebind<int8_t, I16> narrow;
  return hn::PromoteTo(I16(), hn::LoadU(narrow, p));
}

/// Four levels, again and again.
HWY_INLINE V16 repeat_quantized(const uint8_t* p) {
  const hn::Rebind<uint8_t, I16> narrow;
  uint32_t quad;
  std::memcpy(&quad, p, sizeof quad);
  return hn::PromoteTo(I16(),
                       hn::BitCast(narrow, hn::Set(hn::Repartition<uint32_t, decltype(narrow)>(), quad)));
}

template <int64_t R>
HWY_INLINE void tile(const uint8_t* a, int64_t a_stride, int64_t length, const int8_t* weights,
                     const uint64_t* /*marks*/, int32_t* sums, int64_t stride) {
  const I32 i32;
  // Sums of pairs; where an instruction set keeps two, the odd ones come in `odd`.
  V32 acc[R][kVectors], odd[R][kVectors];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = odd[r][v] = hn::Zero(i32);
  for (int64_t k = 0; k < length; k += 4, weights += 4 * kInt8Columns) {
    V16 x[R];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) x[r] = repeat_quantized(a + r * a_stride + k);
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const V16 w = load_weights(weights + v * 2 * kLanes);
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r)
        acc[r][v] = hn::ReorderWidenMulAccumulate(i32, x[r], w, acc[r][v], odd[r][v]);
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; v += 2) {
    const V32 low = hn::RearrangeToOddPlusEven(acc[r][v], odd[r][v]),
              high = hn::RearrangeToOddPlusEven(acc[r][v + 1], odd[r][v + 1]);
    hn::StoreU(hn::Add(hn::ConcatEven(i32, high, low), hn::ConcatOdd(i32, high, low)), i32,
               sums + r * stride + v * kLanes / 2);
  }
}

#else

inline constexpr int64_t kRows = 1;

template <int64_t R>
void tile(const uint8_t* a, int64_t a_stride, int64_t length, const int8_t* weights,
          const uint64_t* /*marks*/, int32_t* sums, int64_t stride) {
  for (int64_t r = 0; r < R; ++r)
    for (int64_t c = 0; c < kInt8Columns; ++c) {
      int32_t sum = 0;
      for (int64_t k = 0; k < length; ++k)
        sum += int32_t{a[r * a_stride + k]} * weights[(k - k % 4) * kInt8Columns + 4 * c + k % 4];
      sums[r * stride + c] = sum;
    }
}

#endif

void panel_rows(const Int8Rows& a, int64_t rows, int64_t length, const int8_t* weights, const uint64_t* marks,
                int32_t* sums, int64_t stride) {
  const auto at = [&](int64_t r) { return a.data + r * a.stride; };
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    tile<kRows>(at(r), a.stride, length, weights, marks, sums + r * stride, stride);
  // What is left in few pieces: one row at a time would read the weights as often.
  if constexpr (kRows > 3)
    if (r + 3 <= rows) tile<3>(at(r), a.stride, length, weights, marks, sums + r * stride, stride), r += 3;
  if constexpr (kRows > 2)
    for (; r + 2 <= rows; r += 2) tile<2>(at(r), a.stride, length, weights, marks, sums + r * stride, stride);
  for (; r < rows; ++r) tile<1>(at(r), a.stride, length, weights, marks, sums + r * stride, stride);
}

uint32_t sum_of(const uint8_t* levels, int64_t count) {
  uint32_t sum = 0;
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> u8;
  const hn::Repartition<uint64_t, decltype(u8)> u64;
  const auto lanes = static_cast<int64_t>(hn::Lanes(u8));
  auto sums = hn::Zero(u64);
  for (; i + lanes <= count; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(u8, levels + i)));
  sum = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(u64, sums)));
#endif
  for (; i < count; ++i) sum += levels[i];
  return sum;
}

/// Adds what zero points take away and shifts bring. All of it may wrap on the way; the sums do not.
void correct(const Int8Columns& columns, bool shifted, const Int8Rows& a, int64_t length, int64_t rows,
             int32_t* sums, int64_t stride) {
  const hn::CappedTag<int32_t, kInt8Columns> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(i32));
  const auto zero = hn::Set(i32, a.zero_point);
  for (int64_t r = 0; r < rows; ++r) {
    const uint32_t row_sum = shifted ? sum_of(a.data + r * a.stride, length) : 0;
    const auto levels = hn::Set(i32, static_cast<int32_t>(row_sum));
    for (int64_t c = 0; c < kInt8Columns; c += lanes) {
      int32_t* const to = sums + r * stride + c;
      const auto more = hn::Sub(hn::Mul(levels, hn::LoadU(i32, columns.shifts + c)),
                                hn::Mul(zero, hn::LoadU(i32, columns.sums + c)));
      hn::StoreU(hn::Add(hn::LoadU(i32, to), more), i32, to);
    }
  }
}

void product(const Int8Weights& w, const void* packed, int64_t panel, int64_t count, const Int8Rows& a,
             int64_t rows, int32_t* sums, int64_t stride) {
  const int64_t length = int8_row_length(w.k);
  for (int64_t p = 0; p < count; ++p) {
    const char* weights = static_cast<const char*>(packed) + (panel + p) * w.panel_bytes();
    int32_t* const to = sums + p * kInt8Columns;
    panel_rows(a, rows, length, reinterpret_cast<const int8_t*>(weights), w.marks(packed, panel + p), to,
               stride);
    correct(*w.columns(packed, panel + p), w.shifts(packed, panel + p, 1), a, length, rows, to, stride);
  }
}

void flip_signs(const uint8_t* from, uint8_t* to, int64_t count) {
  const hn::ScalableTag<uint8_t> u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(u8));
  const auto sign = hn::Set(u8, uint8_t{128});
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(u8, from + i), sign), u8, to + i);
  for (; i < count; ++i) to[i] = from[i] ^ 128;
}

/// Calls work(offset, load, store) for each vector; the last one is partial.
template <typename Work>
HWY_INLINE void for_vectors(int64_t count, Work work) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t i = 0; i < count; i += lanes) work(i, std::min(lanes, count - i));
}

using VF = hn::Vec<F>;

HWY_INLINE VF load_some(const float* p, int64_t count) {
  if (count == static_cast<int64_t>(hn::Lanes(F()))) return hn::LoadU(F(), p);
  alignas(64) float rest[hn::MaxLanes(F())] = {};
  for (int64_t i = 0; i < count; ++i) rest[i] = p[i];
  return hn::Load(F(), rest);
}

HWY_INLINE VF load_some(const int32_t* p, int64_t count) {
  const hn::RebindToSigned<F> i32;
  if (count == static_cast<int64_t>(hn::Lanes(F()))) return hn::ConvertTo(F(), hn::LoadU(i32, p));
  alignas(64) int32_t rest[hn::MaxLanes(F())] = {};
  for (int64_t i = 0; i < count; ++i) rest[i] = p[i];
  return hn::ConvertTo(F(), hn::Load(i32, rest));
}

HWY_INLINE VF scaled(const int32_t* sums, const float* scale, const float* bias, int64_t i, int64_t count) {
  const VF b = bias == nullptr ? hn::Zero(F()) : load_some(bias + i, count);
  return hn::MulAdd(load_some(sums + i, count), load_some(scale + i, count), b);
}

void float_elements(int32_t* sums, const int32_t* addend, int64_t count) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::LoadU(i32, sums + i);
    const auto whole = addend == nullptr ? sum : hn::Add(sum, hn::LoadU(i32, addend + i));
    hn::StoreU(hn::BitCast(i32, hn::ConvertTo(f, whole)), i32, sums + i);
  }
  for (; i < count; ++i) {
    const uint32_t other = addend == nullptr ? 0 : static_cast<uint32_t>(addend[i]);
    const auto number = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + other));
    std::memcpy(sums + i, &number, sizeof number);
  }
}

void scale_elements(const int32_t* sums, int64_t count, const float* scale, const float* bias, float* y) {
  for_vectors(count, [&](int64_t i, int64_t n) HWY_ATTR {
    const VF v = scaled(sums, scale, bias, i, n);
    if (n == static_cast<int64_t>(hn::Lanes(F()))) return hn::StoreU(v, F(), y + i);
    alignas(64) float rest[hn::MaxLanes(F())];
    hn::Store(v, F(), rest);
    for (int64_t j = 0; j < n; ++j) y[i + j] = rest[j];
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(product);
HWY_EXPORT(flip_signs);
HWY_EXPORT(float_elements);
HWY_EXPORT(scale_elements);

bool Int8Weights::shifts(const void* packed, int64_t panel, int64_t count) const {
  int32_t bits = 0;
  for (int64_t p = panel; p < panel + count; ++p)
    for (const int32_t shift : columns(packed, p)->shifts) bits |= shift;
  return bits != 0;
}

namespace {

/// Sets the marks of a panel's fours (Int8Weights::marks).
void mark_pairs(const int8_t* weights, int64_t fours, void* marks) {
  for (int64_t i = 0; i < fours; ++i) {
    bool fits = true;
    for (int64_t pair = 0; pair < 2 * kInt8Columns; ++pair, weights += 2) {
      const int first = weights[0], second = weights[1];
      fits = fits && std::max(first, 0) + std::max(second, 0) <= 128 &&
             std::min(first, 0) + std::min(second, 0) >= -128;
    }
    if (fits) continue;
    auto* const at = static_cast<char*>(marks) + i / kInt8Marks * static_cast<int64_t>(sizeof(uint64_t));
    uint64_t bits;
    std::memcpy(&bits, at, sizeof bits);
    bits |= uint64_t{1} << (i % kInt8Marks);
    std::memcpy(at, &bits, sizeof bits);
  }
}

}  // namespace

void pack_int8_weights(const Int8Weights& weights, const int16_t* source, int64_t row_stride,
                       int64_t column_stride, void* packed) noexcept {
  const int64_t length = int8_row_length(weights.k);
  auto* to = static_cast<char*>(packed);
  for (int64_t p = 0; p < weights.panels(); ++p, to += weights.panel_bytes()) {
    std::memset(to, 0, static_cast<size_t>(weights.panel_bytes()));
    Int8Columns columns{};
    for (int64_t c = 0; c < std::min(kInt8Columns, weights.n - p * kInt8Columns); ++c) {
      const int16_t* const from = source + (p * kInt8Columns + c) * column_stride;
      int least = 0, most = 0, sum = 0;
      for (int64_t k = 0; k < weights.k; ++k) {
        const int number = from[k * row_stride];
        least = k == 0 ? number : std::min(least, number);
        most = k == 0 ? number : std::max(most, number);
        sum += number;
      }
      const int shift = most > 127 ? most - 127 : least < -128 ? least + 128 : 0;
      columns.sums[c] = sum;
      columns.shifts[c] = shift;
      for (int64_t k = 0; k < weights.k; ++k)
        to[(k - k % 4) * kInt8Columns + 4 * c + k % 4] = static_cast<char>(from[k * row_stride] - shift);
    }
    std::memcpy(to + length * kInt8Columns, &columns, sizeof columns);
    mark_pairs(reinterpret_cast<const int8_t*>(to), length / 4, to + length * kInt8Columns + sizeof columns);
  }
}

void to_unsigned_quantized(const void* from, bool is_signed, uint8_t* to, int64_t count) noexcept {
  if (is_signed)
    HWY_DYNAMIC_DISPATCH(flip_signs)(static_cast<const uint8_t*>(from), to, count);
  else
    std::memcpy(to, from, static_cast<size_t>(count));
}

void int8_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  if (const auto native = native_kernels().int8_product)
    return native(weights, packed, panel, count, a, rows, sums, stride);
  HWY_DYNAMIC_DISPATCH(product)(weights, packed, panel, count, a, rows, sums, stride);
}

void int8_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                            const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                            const QuantizedEpilogue& end) noexcept {
  if (const auto native = native_kernels().int8_product_quantized)
    return native(weights, packed, panel, columns, a, rows, sums, stride, end);
  int8_product(weights, packed, panel, Int8Weights::panels_of(columns), a, rows, sums, stride);
  requantize({sums, stride, rows, columns}, end);
}

bool has_int8_instructions() noexcept { return native_kernels().int8_product != nullptr; }

void sums_to_floats(int32_t* sums, const int32_t* addend, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(float_elements)(sums, addend, count);
}

void scale_sums(const int32_t* sums, int64_t count, const float* scale, const float* bias,
                float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(scale_elements)(sums, count, scale, bias, y);
}

}  // namespace assay::kernels
#endif
