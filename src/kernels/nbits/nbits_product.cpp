#include "kernels/nbits/nbits_product.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/copy/transpose_block.h"
#include "kernels/panel/panel_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/nbits/nbits_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef ASSAY_KERNELS_NBITS_STORED_
#define ASSAY_KERNELS_NBITS_STORED_
namespace assay::kernels {

/// The weights, and what takes a division to know of them.
struct StoredNbits : NbitsWeights {
  explicit StoredNbits(const NbitsWeights& w)
      : NbitsWeights(w), row_blocks(w.blocks()), bytes(w.block_bytes()), row_zero_bytes(w.zero_bytes()) {}
  int64_t row_blocks, bytes, row_zero_bytes;

  const uint8_t* block_at(int64_t column, int64_t number) const {
    return levels + (column * row_blocks + number) * bytes;
  }
  float scale_at(int64_t column, int64_t number) const { return scales[column * row_blocks + number]; }
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace nbits {
namespace hn = hwy::HWY_NAMESPACE;

/// Of W, rows and columns that are decoded at a time; panels of x that they are multiplied by.
constexpr int64_t kRows = 64, kDepth = 128, kPanels = 12;
/// Products that a thread takes at least.
constexpr int64_t kGrain = 1 << 15;
/// 2^23: an integer below that, in the bits of the fraction, makes it greater by as much.
constexpr float kUnit = 8388608;

/// A vector has the bytes of D's lanes, and with them a part of each stream: the levels that lie at the same
/// bits of a byte. Rows of the left operand lie in the order of streams, divided by what their bits are
/// worth.
template <int kBits, typename D>
struct Streams {
  static constexpr int kCount = 8 / kBits;
  static constexpr uint32_t mask(int stream) { return ((1U << kBits) - 1) << (kBits * stream); }
  static constexpr float worth(int stream) { return static_cast<float>(1 << (kBits * stream)); }
  static constexpr int kHalf = 1 << (kBits - 1);
};

/// What 2^23 with a level counts as 0 is in each stream, by the zero point.
template <int kBits, typename D>
struct ZeroNumbers {
  float of[8 / kBits][1 << kBits] = {};

  constexpr ZeroNumbers() {
    for (int s = 0; s < 8 / kBits; ++s)
      for (int zero = 0; zero < 1 << kBits; ++zero)
        of[s][zero] = kUnit + static_cast<float>(zero) * Streams<kBits, D>::worth(s);
  }
};

/// x [k] in the order of streams, zeros behind it.
template <int kBits, typename D>
void order_row(D d, const float* x, int64_t k, int64_t filled, float* to) {
  using S = Streams<kBits, D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), step = S::kCount * lanes;
  for (int64_t i = 0; i < filled; i += step, to += step) {
    alignas(64) float rest[S::kCount * hn::MaxLanes(D())] = {};
    const float* from = x + i;
    if (i + step > k) {
      std::copy_n(from, std::max<int64_t>(0, k - i), rest);
      from = rest;
    }
    hn::Vec<D> v[4];
    if constexpr (S::kCount == 1) v[0] = hn::LoadU(d, from);
    if constexpr (S::kCount == 2) hn::LoadInterleaved2(d, from, v[0], v[1]);
    if constexpr (S::kCount == 4) hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    for (int s = 0; s < S::kCount; ++s)
      hn::StoreU(hn::Mul(v[s], hn::Set(d, 1 / S::worth(s))), d, to + s * lanes);
  }
}

/// Of a block of a column.
template <int kBits>
HWY_INLINE int zero_point(const StoredNbits& w, int64_t column, int64_t block) {
  const uint8_t byte = w.zero_points[column * w.row_zero_bytes + block * kBits / 8];
  return byte >> (block * kBits % 8) & ((1 << kBits) - 1);
}

/// ZeroNumbers of a block of a column, in all lanes.
template <int kBits, bool kZeros, typename D>
HWY_INLINE void load_zeros(D d, const StoredNbits& w, int64_t column, int64_t block,
                           hn::Vec<D> (&zeros)[8 / kBits]) {
  using S = Streams<kBits, D>;
  static constexpr ZeroNumbers<kBits, D> kNumbers;
  const int zero = kZeros ? zero_point<kBits>(w, column, block) : S::kHalf;
  ASSAY_UNROLL
  for (int s = 0; s < S::kCount; ++s) zeros[s] = hn::Set(d, kNumbers.of[s][zero]);
}

/// The bytes of D's lanes, as integers; and their levels in a stream, less the zero point, times what the
/// stream is worth.
template <typename D>
HWY_INLINE auto load_bytes(D, const uint8_t* p) {
  return hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(hn::Rebind<uint8_t, D>(), p));
}
template <int kBits, typename D, typename U>
HWY_INLINE hn::Vec<D> numbers_of(D d, U bytes, int stream, hn::Vec<D> zero) {
  const hn::RebindToUnsigned<D> u32;
  const auto unit = hn::BitCast(u32, hn::Set(d, kUnit));
  const auto mask = hn::Set(u32, Streams<kBits, D>::mask(stream));
  return hn::Sub(hn::BitCast(d, hn::OrAnd(unit, bytes, mask)), zero);
}

/// y of R rows of x and C columns from `column` on.
template <int kBits, int64_t R, int64_t C, bool kZeros, typename D>
HWY_INLINE void tile(D d, const StoredNbits& w, const float* x, int64_t column, const float* bias, float* y) {
  using S = Streams<kBits, D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t pitch = w.filled();
  const int64_t ahead = kTilesAhead * C * w.row_blocks * w.bytes;
  hn::Vec<D> acc[R][C];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t c = 0; c < C; ++c) acc[r][c] = hn::Zero(d);
  for (int64_t b = 0; b < w.row_blocks; ++b) {
    hn::Vec<D> sums[R][C], zeros[C][S::kCount];
    ASSAY_UNROLL
    for (int64_t c = 0; c < C; ++c) {
      load_zeros<kBits, kZeros>(d, w, column + c, b, zeros[c]);
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) sums[r][c] = hn::Zero(d);
    }
    const float* xb = x + b * w.block;
    for (int64_t at = 0; at < w.bytes; at += lanes, xb += S::kCount * lanes) ASSAY_UNROLL
    for (int64_t c = 0; c < C; ++c) {
      const uint8_t* const bytes = w.block_at(column + c, b) + at;
      __builtin_prefetch(bytes + ahead);
      const auto levels = load_bytes(d, bytes);
      ASSAY_UNROLL
      for (int s = 0; s < S::kCount; ++s) {
        const auto number = numbers_of<kBits>(d, levels, s, zeros[c][s]);
        ASSAY_UNROLL
        for (int64_t r = 0; r < R; ++r)
          sums[r][c] = hn::MulAdd(number, hn::LoadU(d, xb + r * pitch + s * lanes), sums[r][c]);
      }
    }
    ASSAY_UNROLL
    for (int64_t c = 0; c < C; ++c) {
      const auto scale = hn::Set(d, w.scale_at(column + c, b));
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) acc[r][c] = hn::MulAdd(sums[r][c], scale, acc[r][c]);
    }
  }
  for (int64_t r = 0; r < R; ++r)
    for (int64_t c = 0; c < C; ++c) {
      const float sum = hn::GetLane(hn::SumOfLanes(d, acc[r][c]));
      y[r * w.n + column + c] = bias == nullptr ? sum : sum + bias[column + c];
    }
}

/// Columns [first, last) of R rows, C at a time.
template <int kBits, int64_t R, int64_t C, bool kZeros, typename D>
void columns(D d, const StoredNbits& w, const float* x, int64_t first, int64_t last, const float* bias,
             float* y) {
  for (; first + C <= last; first += C) tile<kBits, R, C, kZeros>(d, w, x, first, bias, y);
  for (; C > 1 && first < last; ++first) tile<kBits, R, 1, kZeros>(d, w, x, first, bias, y);
}

/// A few rows: k lies in the lanes.
template <int kBits, bool kZeros, typename D>
void few_rows(D d, const StoredNbits& w, const float* x, int64_t m, const float* bias, float* y,
              float* scratch) {
  const int64_t pitch = w.filled();
  for (int64_t r = 0; r < m; ++r) order_row<kBits>(d, x + r * w.k, w.k, pitch, scratch + r * pitch);
  parallel_for(w.n, std::max<int64_t>(4, kGrain / w.k), [&](int64_t first, int64_t last) HWY_ATTR {
    int64_t r = 0;
    for (; r + 4 <= m; r += 4)
      columns<kBits, 4, 1, kZeros>(d, w, scratch + r * pitch, first, last, bias, y + r * w.n);
    if (r + 2 <= m)
      columns<kBits, 2, 2, kZeros>(d, w, scratch + r * pitch, first, last, bias, y + r * w.n), r += 2;
    if (r < m) columns<kBits, 1, 4, kZeros>(d, w, scratch + r * pitch, first, last, bias, y + r * w.n);
  });
}

/// Columns [k, k + depth) of `count` rows of W as float32, in the order of streams, kDepth apart.
template <int kBits, bool kZeros, typename D>
void decode(D d, const StoredNbits& w, int64_t row, int64_t count, int64_t k, int64_t depth, float* to) {
  using S = Streams<kBits, D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), step = S::kCount * lanes;
  for (const int64_t last = row + count; row < last; ++row, to += kDepth) {
    int64_t block = k / w.block, at = k % w.block;
    for (int64_t i = 0; i < depth; ++block, at = 0) {
      hn::Vec<D> zeros[S::kCount];
      load_zeros<kBits, kZeros>(d, w, row, block, zeros);
      const auto scale = hn::Set(d, w.scale_at(row, block));
      const uint8_t* levels = w.block_at(row, block) + at * kBits / 8;
      for (; at < w.block && i < depth; at += step, i += step, levels += lanes) {
        const auto bytes = load_bytes(d, levels);
        ASSAY_UNROLL
        for (int s = 0; s < S::kCount; ++s)
          hn::StoreU(hn::Mul(numbers_of<kBits>(d, bytes, s, zeros[s]), scale), d, to + i + s * lanes);
      }
    }
  }
}

/// Many rows: W, part by part, becomes float32 rows that the threads' caches hold, and x the panels that they
/// are multiplied by; so what is transposed are x and y, and not the weights.
template <int kBits, bool kZeros, typename D>
void many_rows(D d, const StoredNbits& w, const float* x, int64_t m, const float* bias, float* y,
               float* scratch) {
  const int64_t filled = w.filled(), panels = (m + kPanelColumns - 1) / kPanelColumns;
  float* const packed = scratch + m * filled;
  parallel_for(panels, 1, [&](int64_t first, int64_t last) HWY_ATTR {
    for (int64_t p = first; p < last; ++p) {
      const int64_t row = p * kPanelColumns, rows = std::min(kPanelColumns, m - row);
      for (int64_t r = row; r < row + rows; ++r)
        order_row<kBits>(d, x + r * w.k, w.k, filled, scratch + r * filled);
      pack_panels({.n = rows, .k = filled}, scratch + row * filled, 1, filled,
                  packed + p * filled * kPanelColumns);
    }
  });
  parallel_for((w.n + kRows - 1) / kRows, 1, [&](int64_t first, int64_t last) HWY_ATTR {
    alignas(64) float decoded[kRows * kDepth], sums[kRows * kPanels * kPanelColumns];
    for (int64_t column = first * kRows; column < std::min(last * kRows, w.n); column += kRows)
      for (int64_t p = 0; p < panels; p += kPanels) {
        const int64_t count = std::min(kPanels, panels - p), stride = count * kPanelColumns;
        const int64_t columns = std::min(kRows, w.n - column), row = p * kPanelColumns;
        for (int64_t k = 0; k < filled; k += kDepth) {
          const int64_t depth = std::min(kDepth, filled - k);
          decode<kBits, kZeros>(d, w, column, columns, k, depth, decoded);
          panel_block_product(
              {packed + (p * filled + k) * kPanelColumns, filled * kPanelColumns, count, depth},
              {decoded, kDepth}, columns, k > 0 ? sums : nullptr, stride, sums, stride);
        }
        for (int64_t c = 0; c < columns && bias != nullptr; ++c)
          for (int64_t r = 0; r < stride; ++r) sums[c * stride + r] += bias[column + c];
        transpose_block(sums, stride, y + row * w.n + column, w.n, columns, std::min(stride, m - row),
                        sizeof(float));
      }
  });
}

template <int kBits>
void product_of_bits(const StoredNbits& w, const float* x, int64_t m, const float* bias, float* y,
                     float* scratch) {
  const auto with = [&](auto d) {
    if (m > kMaxNbitsRows)
      w.zero_points != nullptr ? many_rows<kBits, true>(d, w, x, m, bias, y, scratch)
                               : many_rows<kBits, false>(d, w, x, m, bias, y, scratch);
    else
      w.zero_points != nullptr ? few_rows<kBits, true>(d, w, x, m, bias, y, scratch)
                               : few_rows<kBits, false>(d, w, x, m, bias, y, scratch);
  };
  // No vector reaches beyond a block.
  if (w.bytes >= 16) return with(hn::CappedTag<float, 16>());
  if (w.bytes >= 8) return with(hn::CappedTag<float, 8>());
  with(hn::CappedTag<float, 4>());
}

}  // namespace nbits

void nbits_rows(const NbitsWeights& weights, const float* x, int64_t m, const float* bias, float* y,
                float* scratch) {
  const StoredNbits w(weights);
  if (w.bits == 2) return nbits::product_of_bits<2>(w, x, m, bias, y, scratch);
  if (w.bits == 4) return nbits::product_of_bits<4>(w, x, m, bias, y, scratch);
  nbits::product_of_bits<8>(w, x, m, bias, y, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(nbits_rows);

int64_t nbits_scratch_rows(int64_t m) {
  return m > kMaxNbitsRows ? m + (m + kPanelColumns - 1) / kPanelColumns * kPanelColumns : m;
}

void nbits_product(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                   float* scratch) {
  HWY_DYNAMIC_DISPATCH(nbits_rows)(w, x, m, bias, y, scratch);
}

}  // namespace assay::kernels
#endif
