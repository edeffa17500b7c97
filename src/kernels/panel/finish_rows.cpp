#include "kernels/panel/finish_rows.h"

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/finish_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;

template <bool kAdds>
void rows_of(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
             const float* addend, int64_t addend_stride, float* y, int64_t y_stride) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto low = hn::Set(f, finish.low), high = hn::Set(f, finish.high);
  for (int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
      auto v = hn::LoadU(f, x + c);
      if constexpr (kAdds) v = hn::Add(v, hn::LoadU(f, addend + c));
      // Comparisons with NaN are false.
      v = hn::IfThenElse(hn::Lt(v, low), low, v);
      hn::StoreU(hn::IfThenElse(hn::Gt(v, high), high, v), f, y + c);
    }
    for (; c < columns; ++c) {
      float v = x[c];
      if constexpr (kAdds) v += addend[c];
      v = v < finish.low ? finish.low : v;
      y[c] = v > finish.high ? finish.high : v;
    }
    if constexpr (kAdds) addend += addend_stride;
  }
}

void finish(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
            const float* addend, int64_t addend_stride, float* y, int64_t y_stride) {
  if (addend == nullptr)
    rows_of<false>(finish, rows, columns, x, x_stride, addend, addend_stride, y, y_stride);
  else
    rows_of<true>(finish, rows, columns, x, x_stride, addend, addend_stride, y, y_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(finish);

void finish_rows(const FinishRows& finish, int64_t rows, int64_t columns, const float* x, int64_t x_stride,
                 const float* addend, int64_t addend_stride, float* y, int64_t y_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(finish)(finish, rows, columns, x, x_stride, addend, addend_stride, y, y_stride);
}

}  // namespace assay::kernels
#endif
