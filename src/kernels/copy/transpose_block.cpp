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

template <typename T>
void turn(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int64_t kEdge = kSide<T>;
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
