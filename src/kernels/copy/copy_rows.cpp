#include "kernels/copy/copy_rows.h"

#include <cstring>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/copy_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/partial_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of this many numbers and more are left to memcpy.
inline constexpr int64_t kLongRow = 512;

void copy_short_rows(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
                     int64_t out_stride) {
  const hn::ScalableTag<float> f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t whole = columns / lanes * lanes;
  const auto rest = static_cast<size_t>(columns - whole);
  for (int64_t r = 0; r < rows; ++r, in += in_stride, out += out_stride) {
    if (columns >= kLongRow) {
      std::memcpy(out, in, static_cast<size_t>(columns) * sizeof(float));
      continue;
    }
    for (int64_t c = 0; c < whole; c += lanes) hn::StoreU(hn::LoadU(f, in + c), f, out + c);
    if (whole < columns) store_first(f, load_first(f, in + whole, rest), out + whole, rest);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(copy_short_rows);

void copy_rows(int64_t rows, int64_t columns, const float* in, int64_t in_stride, float* out,
               int64_t out_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(copy_short_rows)(rows, columns, in, in_stride, out, out_stride);
}

}  // namespace assay::kernels
#endif
