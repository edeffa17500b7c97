#include "kernels/sample/sample.h"

#include <algorithm>
#include <limits>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sample/sample.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// One element of each point of a vector: 0 where the index is negative.
template <bool kSomeOutside>
HWY_INLINE VF elements_at(const float* plane, VI index) {
  const F f;
  const I i;
  if constexpr (!kSomeOutside) return hn::GatherIndex(f, plane, index);
  const VF value = hn::GatherIndex(f, plane, hn::Max(index, hn::Zero(i)));
  return hn::IfThenElseZero(hn::RebindMask(f, hn::Gt(index, hn::Set(i, -1))), value);
}

template <bool kSomeOutside>
void sum_samples(const Samples& s, bool goes_on, const float* plane, float* out) {
  const F f;
  const I i;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t p = 0; p < s.points; p += lanes) {
    const int32_t* index = s.index.data() + p;
    const float* weight = s.weight.data() + p;
    const auto left = static_cast<size_t>(s.points - p);
    VF sum = hn::Zero(f);
    int64_t t = 0;
    if (goes_on) {
      sum = left < hn::Lanes(f) ? load_first(out + p, left) : hn::LoadU(f, out + p);
    } else if (s.taps > 0) {
      // The first is not added to 0, which would take a zero's sign.
      sum = hn::Mul(elements_at<kSomeOutside>(plane, hn::LoadU(i, index)), hn::LoadU(f, weight));
      t = 1;
    }
    for (; t < s.taps; ++t)
      sum = hn::MulAdd(elements_at<kSomeOutside>(plane, hn::LoadU(i, index + t * s.stride)),
                       hn::LoadU(f, weight + t * s.stride), sum);
    if (left < hn::Lanes(f))
      store_first(sum, out + p, left);
    else
      hn::StoreU(sum, f, out + p);
  }
}

void largest_samples(const Samples& s, bool goes_on, const float* plane, float* out) {
  const F f;
  const I i;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t p = 0; p < s.points; p += lanes) {
    const auto left = static_cast<size_t>(s.points - p);
    VF largest = constant(-std::numeric_limits<float>::infinity());
    if (goes_on) largest = left < hn::Lanes(f) ? load_first(out + p, left) : hn::LoadU(f, out + p);
    for (int64_t t = 0; t < s.taps; t += 4) {
      VF four = hn::Zero(f);
      auto any = hn::Lt(four, four);
      for (int64_t k = t; k < std::min(t + 4, s.taps); ++k) {
        const VI index = hn::LoadU(i, s.index.data() + k * s.stride + p);
        const auto inside = hn::RebindMask(f, hn::Gt(index, hn::Set(i, -1)));
        const VF value =
            hn::Mul(hn::LoadU(f, s.weight.data() + k * s.stride + p), elements_at<true>(plane, index));
        const auto takes = hn::And(inside, hn::Or(hn::Not(any), hn::Lt(four, value)));
        four = hn::IfThenElse(takes, value, four);
        any = hn::Or(any, inside);
      }
      largest = hn::IfThenElse(hn::Lt(largest, four), four, largest);
    }
    if (left < hn::Lanes(f))
      store_first(largest, out + p, left);
    else
      hn::StoreU(largest, f, out + p);
  }
}

void sample(const Samples& s, SampleJoin join, bool goes_on, const float* planes, int64_t channels,
            int64_t plane, float* out, int64_t out_stride) {
  bool some_outside = false;
  for (int64_t t = 0; t < s.taps && !some_outside; ++t)
    for (int64_t p = 0; p < s.points; ++p) some_outside |= s.index[static_cast<size_t>(t * s.stride + p)] < 0;
  for (int64_t c = 0; c < channels; ++c) {
    const float* const from = planes + c * plane;
    float* const to = out + c * out_stride;
    if (join == SampleJoin::kLargest)
      largest_samples(s, goes_on, from, to);
    else if (some_outside || s.points % static_cast<int64_t>(hn::Lanes(F())) != 0)
      sum_samples<true>(s, goes_on, from, to);
    else
      sum_samples<false>(s, goes_on, from, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sample);

void Samples::reset(int64_t new_points, int64_t new_taps) {
  constexpr int64_t kWidest = 16;
  points = new_points;
  taps = new_taps;
  stride = (points + kWidest - 1) / kWidest * kWidest;
  index.assign(static_cast<size_t>(taps * stride), -1);
  weight.assign(static_cast<size_t>(taps * stride), 0.0F);
}

void sample_planes(const Samples& samples, SampleJoin join, bool goes_on, const float* planes,
                   int64_t channels, int64_t plane, float* out, int64_t out_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(sample)(samples, join, goes_on, planes, channels, plane, out, out_stride);
}

}  // namespace assay::kernels
#endif
