#include "kernels/pointwise/byte_table.h"

#include "kernels/native_kernels.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/byte_table.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace byte_lookup {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// The index of x in a row of sixteen entries: beyond 127, which gives 0, unless it is one of theirs.
template <typename V>
HWY_INLINE V index_in_row(V beyond) {
  const hn::DFromV<V> d;
  const V index = hn::SaturatedAdd(beyond, hn::Set(d, uint8_t{0x70}));
#if HWY_ARCH_X86
  return index;  // its instruction looks at bits 0 to 3 and 7 alone
#else
  return hn::And(index, hn::Set(d, uint8_t{0x8F}));
#endif
}

/// Sixteen rows of sixteen entries. A row gives its entries where the value is one of its own and else 0.
template <typename V>
HWY_INLINE V entries_of(const uint8_t* table, V x) {
  const hn::DFromV<V> d;
  constexpr int kRows = 16;
  V sum = hn::Zero(d);
  ASSAY_UNROLL
  for (int row = 0; row < kRows; ++row) {
    const V index = index_in_row(hn::Sub(x, hn::Set(d, static_cast<uint8_t>(kRows * row))));
    sum = hn::Or(sum, hn::TableLookupBytesOr0(hn::LoadDup128(d, table + kRows * row), index));
  }
  return sum;
}

#endif

void look_up_rows(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(entries_of(table, hn::LoadU(d, x + i)), d, y + i);
#endif
  for (; i < count; ++i) y[i] = table[x[i]];
}

}  // namespace byte_lookup

using byte_lookup::look_up_rows;

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(look_up_rows);

void look_up(const ByteTable& table, const uint8_t* x, int64_t count, uint8_t* y) noexcept {
  if (const auto native = native_kernels().look_up) return native(table.data(), x, count, y);
  look_up_common(table, x, count, y);
}

void look_up_common(const ByteTable& table, const uint8_t* x, int64_t count, uint8_t* y) noexcept {
  HWY_DYNAMIC_DISPATCH(look_up_rows)(table.data(), x, count, y);
}

}  // namespace assay::kernels
#endif
