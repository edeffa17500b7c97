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

template <typename V>
HWY_INLINE void store_row(V levels, const Scales& s, int64_t v, float* to) {
  hn::StoreU(hn::Mul(hn::Sub(above_unit(levels), s.zeros[v]), s.factors[v]), F(), to + v * kLanes);
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
HWY_INLINE void expand_rows(const uint8_t* bytes, const Scales& s, float* to) {
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
    expand_rows<kBits>(levels + row / kEach * kPanelColumns, s, to);
  while (row < last) expand_one();
}

template <int kBits, bool kZeros>
void expand_panel(const NbitsPanels& m, int64_t panel, int64_t row, int64_t depth, float* to) {
  const ScaleColumns columns(m, panel);
  const NbitsGrid& g = m.grid;
  const uint8_t* const levels = m.levels + panel * m.panel_bytes();
  int64_t at = row % g.part, scale_row = at / g.rows;
  if (!g.is_same_in_parts) scale_row += row / g.part * m.part_blocks();
  int64_t left = std::min(g.rows - at % g.rows, g.part - at);  // of a block
  for (const int64_t last = row + depth; row < last;) {
    const int64_t count = std::min(left, last - row);
    expand_block<kBits>(levels, row, row + count, columns.of<kBits, kZeros>(scale_row), to);
    row += count, at += count, to += count * kPanelColumns;
    ++scale_row;
    if (at == g.part) {
      at = 0;
      if (g.is_same_in_parts) scale_row = 0;
    }
    left = std::min(g.rows, g.part - at);
  }
}

template <int kBits>
void expand_of_bits(const NbitsPanels& m, int64_t panel, int64_t count, int64_t row, int64_t depth,
                    float* to) {
  for (const int64_t last = panel + count; panel < last; ++panel, to += depth * kPanelColumns)
    m.zero_points != nullptr ? expand_panel<kBits, true>(m, panel, row, depth, to)
                             : expand_panel<kBits, false>(m, panel, row, depth, to);
}

}  // namespace nbits_panels

void expand(const NbitsPanels& m, int64_t panel, int64_t count, int64_t row, int64_t depth, float* to) {
  if (m.bits == 2) return nbits_panels::expand_of_bits<2>(m, panel, count, row, depth, to);
  if (m.bits == 4) return nbits_panels::expand_of_bits<4>(m, panel, count, row, depth, to);
  nbits_panels::expand_of_bits<8>(m, panel, count, row, depth, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(expand);

void expand_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, int64_t row, int64_t depth,
                   float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(expand)(matrix, panel, count, row, depth, to);
}

void expand_bfloat16_panels(const NbitsPanels& matrix, int64_t panel, int64_t count, uint16_t* to) noexcept {
  constexpr int64_t kRows = 64, kPair = 2 * kPanelColumns;
  alignas(64) float rows[kRows * kPanelColumns], pairs[kRows * kPanelColumns];
  for (const int64_t last = panel + count; panel < last; ++panel)
    for (int64_t row = 0; row < matrix.k; row += kRows) {
      const int64_t depth = std::min(kRows, matrix.k - row), filled = depth + depth % 2;
      HWY_DYNAMIC_DISPATCH(expand)(matrix, panel, 1, row, depth, rows);
      std::fill_n(rows + depth * kPanelColumns, (filled - depth) * kPanelColumns, 0.0F);
      for (int64_t pair = 0; pair < filled / 2; ++pair)
        for (int64_t c = 0; c < kPanelColumns; ++c)
          for (int64_t r = 0; r < 2; ++r)
            pairs[pair * kPair + 2 * c + r] = rows[pair * kPair + r * kPanelColumns + c];
      round_to_bfloat16(pairs, to, static_cast<size_t>(filled * kPanelColumns));
      to += filled * kPanelColumns;
    }
}

}  // namespace assay::kernels
#endif
