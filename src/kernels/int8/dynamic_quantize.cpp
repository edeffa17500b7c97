#include "kernels/int8/dynamic_quantize.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/dynamic_quantize.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/int8/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;

/// Widens [low, high] to hold the numbers.
void extend_range(const float* x, int64_t count, float& low, float& high) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  // Several at a time, which do not wait for each other.
  constexpr int64_t kApart = 4;
  VF lows[kApart], highs[kApart];
  ASSAY_UNROLL
  for (int64_t k = 0; k < kApart; ++k) lows[k] = hn::Set(f, low), highs[k] = hn::Set(f, high);
  int64_t i = 0;
  for (; i + kApart * lanes <= count; i += kApart * lanes) ASSAY_UNROLL
  for (int64_t k = 0; k < kApart; ++k) {
    const VF v = hn::LoadU(f, x + i + k * lanes);
    lows[k] = hn::IfThenElse(hn::Lt(v, lows[k]), v, lows[k]);
    highs[k] = hn::IfThenElse(hn::Gt(v, highs[k]), v, highs[k]);
  }
  const VF least = hn::Min(hn::Min(lows[0], lows[1]), hn::Min(lows[2], lows[3]));
  const VF most = hn::Max(hn::Max(highs[0], highs[1]), hn::Max(highs[2], highs[3]));
  low = hn::GetLane(hn::MinOfLanes(f, least));
  high = hn::GetLane(hn::MaxOfLanes(f, most));
  for (; i < count; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
}

void to_quantized(const float* x, int64_t count, float scale, float zero_point, uint8_t* y) {
  const F f;
  const hn::Rebind<uint8_t, F> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const VF divisor = hn::Set(f, scale), zero = hn::Set(f, zero_point), most = hn::Set(f, 255.0F),
           inverse = hn::Set(f, inverse_of(scale));
  const auto levels = [&](VF v) HWY_ATTR {
    const VF shifted = hn::Add(rounded_quotient(f, v, divisor, inverse), zero);
    // What is not above 0, NaN among it, is 0.
    const VF kept = hn::IfThenElseZero(hn::Gt(shifted, hn::Zero(f)), hn::Min(shifted, most));
    return hn::DemoteTo(narrow, hn::NearestInt(kept));
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(levels(hn::LoadU(f, x + i)), narrow, y + i);
  if (i == count) return;
  alignas(64) float from[hn::MaxLanes(F())] = {};
  alignas(64) uint8_t to[hn::MaxLanes(F())];
  std::copy_n(x + i, count - i, from);
  hn::StoreU(levels(hn::LoadU(f, from)), narrow, to);
  std::copy_n(to, count - i, y + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(extend_range);
HWY_EXPORT(to_quantized);

namespace {

/// Numbers that a thread should have at least.
constexpr int64_t kRangeGrain = 65536;

}  // namespace

DynamicRange dynamic_range(const float* x, int64_t count) noexcept {
  float low = 0, high = 0;
  std::mutex mutex;
  parallel_for(count, kRangeGrain, [&](int64_t first, int64_t last) {
    float part_low = 0, part_high = 0;
    HWY_DYNAMIC_DISPATCH(extend_range)(x + first, last - first, part_low, part_high);
    const std::lock_guard lock(mutex);
    low = std::min(low, part_low);
    high = std::max(high, part_high);
  });
  DynamicRange range;
  if (high != low) range.scale = (high - low) / 255.0F;
  const float zero = std::nearbyint(0.0F - low / range.scale);
  range.zero_point = zero > 0 ? static_cast<uint8_t>(std::min(zero, 255.0F)) : 0;
  return range;
}

void quantize_uint8(const float* x, int64_t count, const DynamicRange& range, uint8_t* y) noexcept {
  parallel_for(count, kRangeGrain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(to_quantized)(x + first, last - first, range.scale, range.zero_point, y + first);
  });
}

}  // namespace assay::kernels
#endif
