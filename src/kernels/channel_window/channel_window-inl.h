// Vectors of the channels of blocks.
#if defined(ASSAY_KERNELS_CHANNEL_WINDOW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_CHANNEL_WINDOW_INL_H_
#undef ASSAY_KERNELS_CHANNEL_WINDOW_INL_H_
#else
#define ASSAY_KERNELS_CHANNEL_WINDOW_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/channel_window/channel_window.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

using WF = hn::CappedTag<float, kChannelBlock>;
using VW = hn::Vec<WF>;
inline constexpr auto kWindowLanes = static_cast<int64_t>(hn::MaxLanes(WF()));
static_assert(kChannelBlock % kWindowLanes == 0);

/// NaN stays NaN.
HWY_INLINE VW bounded(VW v, VW low, VW high) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE2
  // The instructions give the second operand where one is NaN.
  return hn::Min(high, hn::Max(low, v));
#else
  v = hn::IfThenElse(hn::Lt(v, low), low, v);
  return hn::IfThenElse(hn::Gt(v, high), high, v);
#endif
}

/// The first `lanes` of a result: all of them, or the last block's padding is not in memory.
template <bool kWhole>
HWY_INLINE void store_channels(VW v, float* to, int64_t lanes) {
  if constexpr (kWhole)
    hn::StoreU(v, WF(), to);
  else
    store_first(WF(), v, to, static_cast<size_t>(lanes));
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif
