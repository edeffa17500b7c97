#include "kernels/nbits/nbits_panels.h"

#include <algorithm>

#include "kernels/panel/bfloat16_rows.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/nbits/nbits_panels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace nbits_panels {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, kPanelColumns>;
using VF = hn::Vec<F>;
using U = hn::RebindToUnsigned<F>;
inline constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(F()));
inline constexpr int64_t kVectors = kPanelColumns / kLanes;
/// 2^23: an integer below that, in the bits of the fraction, makes it greater by as much.
inline constexpr float kUnit = 8388608;

/// So many bytes as a vector of numbers has lanes.
HWY_INLINE auto load_bytes(const uint8_t* p) {
  return hn::PromoteTo(U(), hn::LoadU(hn::Rebind<uint8_t, F>(), p));
}
/// The integers below 2^23, added to it.
template <typename V>
HWY_INLINE VF above_unit(V integers) {
  return hn::BitCast(F(), hn::Or(integers, hn::BitCast(U(), hn::Set(F(), kUnit))));
}

/// What the columns of a panel are multiplied by and, above kUnit, their zero points.
struct Scales {
  VF factors[kVectors], zeros[kVectors];
};

/// Finds the scales of a panel's columns in a row of scales: neighbours may share one.
class ScaleColumns {
 public:
  HWY_INLINE ScaleColumns(const NbitsPanels& m, int64_t panel) : m_(m), pitch_(m.scale_columns()) {
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t column = panel * kPanelColumns + v * kLanes;
      first_[v] = column / m.grid.columns;
      for (int64_t i = 0; i < kLanes; ++i)
        lanes_[v][i] = static_cast<int32_t>((column + i) / m.grid.columns - first_[v]);
    }
  }

  template <int kBits, bool kZeros>
  HWY_INLINE Scales of(int64_t row) const {
    const hn::RebindToSigned<F> i32;
    Scales s;
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t at = row * pitch_ + first_[v];
      const auto lanes = hn::IndicesFromVec(F(), hn::LoadU(i32, lanes_[v]));
      s.factors[v] = hn::TableLookupLanes(hn::LoadU(F(), m_.scales + at), lanes);
      if constexpr (kZeros)
        s.zeros[v] = hn::TableLookupLanes(above_unit(load_bytes(m_.zero_points + at)), lanes);
      else
        s.zeros[v] = hn::Set(F(), kUnit + static_cast<float>(1 << (kBits - 1)));
    }
    return s;
  }

 private:
  const NbitsPanels& m_;
  int64_t pitch_;
  int64_t first_[kVectors];
  int32_t lanes_[kVectors][kLanes];
};

/// The numbers of vector v of a panel's columns.
template <typename V>
HWY_INLINE VF numbers_of(V levels, const Scales& s, int64_t v) {
  return hn::Mul(hn::Sub(above_unit(levels), s.zeros[v]), s.factors[v]);
}
template <typename V>
HWY_INLINE void store_row(V levels, const Scales& s, int64_t v, float* to) {
  hn::StoreU(numbers_of(levels, s, v), F(), to + v * kLanes);
}

/// A row whose levels lie `shift` bits from the lowest of their bytes.
template <int kBits>
HWY_INLINE void expand_row(const uint8_t* bytes, int shift, const Scales& s, float* to) {
  const auto mask = hn::Set(U(), (1U << kBits) - 1);
  ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    store_row(hn::And(hn::ShiftRightSame(load_bytes(bytes + v * kLanes), shift), mask), s, v, to);
}

/// The rows whose levels share bytes.
template <int kBits>
HWY_INLINE void expand_sharing_rows(const uint8_t* bytes, const Scales& s, float* to) {
  const auto mask = hn::Set(U(), (1U << kBits) - 1);
  ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) {
    const auto levels = load_bytes(bytes + v * kLanes);
    if constexpr (kBits == 8) {
      store_row(levels, s, v, to);
    } else if constexpr (kBits == 4) {
      store_row(hn::And(levels, mask), s, v, to);
      store_row(hn::ShiftRight<4>(levels), s, v, to + kPanelColumns);
    } else {
      store_row(hn::And(levels, mask), s, v, to);
      store_row(hn::And(hn::ShiftRight<2>(levels), mask), s, v, to + kPanelColumns);
      store_row(hn::And(hn::ShiftRight<4>(levels), mask), s, v, to + 2 * kPanelColumns);
      store_row(hn::ShiftRight<6>(levels), s, v, to + 3 * kPanelColumns);
    }
  }
}

/// Rows [row, last) of a panel, which have the same scales.
template <int kBits>
HWY_INLINE void expand_block(const uint8_t* levels, int64_t row, int64_t last, const Scales& s, float* to) {
  constexpr int64_t kEach = 8 / kBits;
  const auto expand_one = [&]() HWY_ATTR {
    expand_row<kBits>(levels + row / kEach * kPanelColumns, static_cast<int>(row % kEach) * kBits, s, to);
    ++row, to += kPanelColumns;
  };
  while (row < last && row % kEach != 0) expand_one();
  for (; row + kEach <= last; row += kEach, to += kEach * kPanelColumns)
    expand_sharing_rows<kBits>(levels + row / kEach * kPanelColumns, s, to);
  while (row < last) expand_one();
}

/// The bits of bfloat16 in the upper half, the nearest, halves to even.
HWY_INLINE auto rounded(VF x) {
  const auto bits = hn::BitCast(U(), x);
  const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(U(), 1));
  const auto sum = hn::Add(bits, hn::Add(even, hn::Set(U(), 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(U(), 0x400000));
  return hn::IfThenElse(hn::RebindMask(U(), hn::IsNaN(x)), quiet, sum);
}

/// Rows [row, last) of a panel in pairs, an even number of them from an even one on with the same scales.
template <int kBits>
HWY_INLINE void expand_block_to_pairs(const uint8_t* levels, int64_t row, int64_t last, const Scales& s,
                                      uint16_t* to) {
  constexpr int64_t kEach = 8 / kBits;
  const auto mask = hn::Set(U(), (1U << kBits) - 1);
  for (; row < last; row += 2, to += 2 * kPanelColumns) {
    const uint8_t* const bytes = levels + row / kEach * kPanelColumns;
    const int shift = static_cast<int>(row % kEach) * kBits;
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto first = load_bytes(bytes + v * kLanes);
      auto even = first, odd = first;
      if constexpr (kBits == 8) {
        odd = load_bytes(bytes + kPanelColumns + v * kLanes);
      } else {
        even = hn::And(hn::ShiftRightSame(first, shift), mask);
        odd = hn::And(hn::ShiftRightSame(first, shift + kBits), mask);
      }
      const auto pair = hn::Or(hn::ShiftRight<16>(rounded(numbers_of(even, s, v))),
                               hn::AndNot(hn::Set(U(), 0xffff), rounded(numbers_of(odd, s, v))));
      hn::StoreU(pair, U(), reinterpret_cast<uint32_t*>(to) + v * kLanes);
    }
  }
}

/// Calls block(row, last, scales) for the blocks of rows [row, row + depth) of a panel.
template <int kBits, bool kZeros, typename Block>
HWY_INLINE void for_blocks(const NbitsPanels& m, int64_t panel, int64_t row, int64_t depth, Block block) {
  const ScaleColumns columns(m, panel);
  const NbitsGrid& g = m.grid;
  int64_t at = row % g.part, scale_row = at / g.rows;
  if (!g.is_same_in_parts) scale_row += row / g.part * m.part_blocks();
  int64_t left = std::min(g.rows - at % g.rows, g.part - at);  // of a block
  for (const int64_t last = row + depth; row < last;) {
    const int64_t count = std::min(left, last - row);
    block(row, row + count, columns.of<kBits, kZeros>(scale_row));
    row += count, at += count;
    ++scale_row;
    if (at == g.part) {
      at = 0;
      if (g.is_same_in_parts) scale_row = 0;
    }
    left = std::min(g.rows, g.part - at);
  }
}

template <int kBits, bool kZeros>
void expand_panel(const NbitsPanels& m, int64_t panel, int64_t row, int64_t depth, float* to) {
  const uint8_t* const levels = m.levels + panel * m.panel_bytes();
  for_blocks<kBits, kZeros>(m, panel, row, depth, [&](int64_t first, int64_t last, const Scales& s) HWY_ATTR {
    expand_block<kBits>(levels, first, last, s, to + (first - row) * kPanelColumns);
  });
}

template <int kBits, bool kZeros>
void expand_panel(const NbitsPanels& m, int64_t panel, int64_t row, int64_t depth, uint16_t* to) {
  const uint8_t* const levels = m.levels + panel * m.panel_bytes();
  for_blocks<kBits, kZeros>(m, panel, row, depth, [&](int64_t first, int64_t last, const Scales& s) HWY_ATTR {
    expand_block_to_pairs<kBits>(levels, first, last, s, to + (first - row) * kPanelColumns);
  });
}

template <int kBits, typename T>
void expand_of_bits(const NbitsPanels& m, int64_t panel, int64_t count, int64_t row, int64_t depth, T* to) {
  for (const int64_t last = panel + count; panel < last; ++panel, to += depth * kPanelColumns)
    m.zero_points != nullptr ? expand_panel<kBits, true>(m, panel, row, depth, to)
                             : expand_panel<kBits, false>(m, panel, row, depth, to);
}

template <typename T>
void expand(const NbitsPanels& m, int64_t panel, int64_t count, int64_t row, int64_t depth, T* to) {
  if (m.bits == 2) return expand_of_bits<2>(m, panel, count, row, depth, to);
  if (m.bits == 4) return expand_of_bits<4>(m, panel, count, row, depth, to);
  expand_of_bits<8>(m, panel, count, row, depth, to);
}

}  // namespace nbits_panels

void expand_rows(const NbitsPanels& m, int64_t panel, int64_t count, int64_t row, int64_t depth, float* to) {
  nbits_panels::expand(m, panel, count, row, depth, to);
}
void expand_pairs(const NbitsPanels& m, int64_t panel, int64_t count, uint16_t* to) {
  nbits_panels::expand(m, panel, count, 0, m.k, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(expand_rows);
HWY_EXPORT(expand_pairs);

namespace {

/// Both rows of a pair have the same scales.
bool has_even_blocks(const NbitsPanels& m) {
  const NbitsGrid& g = m.grid;
  return g.part % 2 == 0 && (g.rows % 2 == 0 || g.rows == g.part);
}

/// Pairs of rows in any blocks, by way of float32.
void expand_any_pairs(const NbitsPanels& m, int64_t panel, uint16_t* to) {
  constexpr int64_t kRows = 64, kPair = 2 * kPanelColumns;
  alignas(64) float rows[kRows * kPanelColumns], pairs[kRows * kPanelColumns];
  for (int64_t row = 0; row < m.k; row += kRows) {
    const int64_t depth = std::min(kRows, m.k - row), filled = depth + depth % 2;
    expand_panels(m, panel, 1, row, depth, rows);
    std::fill_n(rows + depth * kPanelColumns, (filled - depth) * kPanelColumns, 0.0F);
    for (int64_t pair = 0; pair < filled / 2; ++pair)
      for (int64_t c = 0; c < kPanelColumns; ++c)
        for (int64_t r = 0; r < 2; ++r)
          pairs[pair * kPair + 2 * c + r] = rows[pair * kPair + r * kPanelColumns + c];
    round_to_bfloat16(pairs, to, static_cast<size_t>(filled * kPanelColumns));
    to += filled * kPanelColumns;
  }
}

}  // namespace

void expand_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, int64_t row, int64_t depth,
                   float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(expand_rows)(matrix, panel, count, row, depth, to);
}

void expand_bfloat16_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, uint16_t* to) noexcept {
  if (has_even_blocks(matrix)) return HWY_DYNAMIC_DISPATCH(expand_pairs)(matrix, panel, count, to);
  const int64_t filled = (matrix.k + matrix.k % 2) * kPanelColumns;
  for (int64_t p = 0; p < count; ++p) expand_any_pairs(matrix, panel + p, to + p * filled);
}

}  // namespace assay::kernels
#endif
