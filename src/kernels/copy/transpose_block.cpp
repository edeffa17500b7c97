#include "kernels/copy/transpose_block.h"

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/transpose_block.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace transposition {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <typename T>
constexpr int64_t kSide = 1;
template <typename T>
void turn_square(const T* from, int64_t, T* to, int64_t) {
  to[0] = from[0];
}
#else
/// Side of the square that the rows of 128-bit vectors make.
template <typename T>
constexpr int64_t kSide = 16 / sizeof(T);

/// Rows i and i + half of the square interleaved, again and again: after log2(side) times they are its
/// columns.
template <typename T>
void turn_square(const T* from, int64_t from_step, T* to, int64_t to_step) {
  constexpr int kRows = static_cast<int>(kSide<T>), kHalf = kRows / 2;
  const hn::FixedTag<T, static_cast<size_t>(kRows)> d;
  hn::Vec<decltype(d)> a[kRows], b[kRows];
  ASSAY_UNROLL
  for (int r = 0; r < kRows; ++r) a[r] = hn::LoadU(d, from + r * from_step);
  ASSAY_UNROLL
  for (int width = 1; width < kRows; width *= 2) {
    ASSAY_UNROLL
    for (int r = 0; r < kHalf; ++r) {
      b[2 * r] = hn::InterleaveLower(d, a[r], a[r + kHalf]);
      b[2 * r + 1] = hn::InterleaveUpper(d, a[r], a[r + kHalf]);
    }
    ASSAY_UNROLL
    for (int r = 0; r < kRows; ++r) a[r] = b[r];
  }
  ASSAY_UNROLL
  for (int r = 0; r < kRows; ++r) hn::StoreU(a[r], d, to + r * to_step);
}
#endif

/// Rows that are as few as a pixel has channels, where all of `to` is theirs; and the other way around.
template <int64_t kRows, typename T>
int64_t interleave(const T* from, int64_t from_step, T* to, int64_t columns) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    const auto row = [&](int64_t r) HWY_ATTR { return hn::LoadU(d, from + r * from_step + c); };
    if constexpr (kRows == 2) hn::StoreInterleaved2(row(0), row(1), d, to + c * kRows);
    if constexpr (kRows == 3) hn::StoreInterleaved3(row(0), row(1), row(2), d, to + c * kRows);
    if constexpr (kRows == 4) hn::StoreInterleaved4(row(0), row(1), row(2), row(3), d, to + c * kRows);
  }
  return c;
}

template <int64_t kColumns, typename T>
int64_t take_apart(const T* from, T* to, int64_t to_step, int64_t rows) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t r = 0;
  for (; r + lanes <= rows; r += lanes) {
    hn::Vec<decltype(d)> v[4];
    if constexpr (kColumns == 2) hn::LoadInterleaved2(d, from + r * kColumns, v[0], v[1]);
    if constexpr (kColumns == 3) hn::LoadInterleaved3(d, from + r * kColumns, v[0], v[1], v[2]);
    if constexpr (kColumns == 4) hn::LoadInterleaved4(d, from + r * kColumns, v[0], v[1], v[2], v[3]);
    for (int64_t c = 0; c < kColumns; ++c) hn::StoreU(v[c], d, to + c * to_step + r);
  }
  return r;
}

/// How many columns of few rows, or rows of few columns, were done; none where there are more of both.
template <typename T>
int64_t few_rows(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  if (to_step != rows) return 0;
  if (rows == 2) return interleave<2>(from, from_step, to, columns);
  if (rows == 3) return interleave<3>(from, from_step, to, columns);
  return rows == 4 ? interleave<4>(from, from_step, to, columns) : 0;
}
template <typename T>
int64_t few_columns(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  if (from_step != columns) return 0;
  if (columns == 2) return take_apart<2>(from, to, to_step, rows);
  if (columns == 3) return take_apart<3>(from, to, to_step, rows);
  return columns == 4 ? take_apart<4>(from, to, to_step, rows) : 0;
}

template <typename T>
void turn(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int64_t kEdge = kSide<T>;
  const int64_t done_columns = few_rows(from, from_step, to, to_step, rows, columns);
  from += done_columns, to += done_columns * to_step, columns -= done_columns;
  const int64_t done_rows = few_columns(from, from_step, to, to_step, rows, columns);
  from += done_rows * from_step, to += done_rows, rows -= done_rows;
  const int64_t whole_rows = rows / kEdge * kEdge, whole_columns = columns / kEdge * kEdge;
  for (int64_t c = 0; c < whole_columns; c += kEdge)
    for (int64_t r = 0; r < whole_rows; r += kEdge)
      turn_square(from + r * from_step + c, from_step, to + c * to_step + r, to_step);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      to[c * to_step + r] = from[r * from_step + c];
}

}  // namespace transposition

void turn_block(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows, int64_t columns,
                size_t element_bytes) {
  const auto with = [&](auto e) {
    using T = decltype(e);
    transposition::turn(static_cast<const T*>(from), from_step, static_cast<T*>(to), to_step, rows, columns);
  };
  switch (element_bytes) {
    case 1:
      return with(uint8_t{});
    case 2:
      return with(uint16_t{});
    case 4:
      return with(uint32_t{});
    default:
      return with(uint64_t{});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(turn_block);

void transpose_block(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows,
                     int64_t columns, size_t element_bytes) noexcept {
  HWY_DYNAMIC_DISPATCH(turn_block)(from, from_step, to, to_step, rows, columns, element_bytes);
}

}  // namespace assay::kernels
#endif
