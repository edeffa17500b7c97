#include "kernels/int8/requantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/requantize.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/int8/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RequantizeF = hn::ScalableTag<float>;
using RequantizeV = hn::Vec<RequantizeF>;
inline constexpr int64_t kRequantizeLanes = static_cast<int64_t>(hn::MaxLanes(RequantizeF()));

/// The operators one by one.
template <typename T>
struct ExactQuantized {
  explicit ExactQuantized(const Requantization& r)
      : low(hn::Set(f, r.low)),
        high(hn::Set(f, r.high)),
        divisor(hn::Set(f, r.scale)),
        inverse(hn::Set(f, inverse_of(r.scale))),
        zero_point(hn::Set(f, static_cast<float>(r.zero_point))) {}

  /// Whole numbers within T.
  HWY_INLINE RequantizeV of(RequantizeV sum, RequantizeV scale, RequantizeV bias) const {
    const RequantizeV v = hn::Min(hn::Max(hn::MulAdd(sum, scale, bias), low), high);
    const RequantizeV steps = rounded_quotient(f, v, divisor, inverse);
    return hn::Min(hn::Max(hn::Add(steps, zero_point), hn::Set(f, static_cast<float>(hwy::LimitsMin<T>()))),
                   hn::Set(f, static_cast<float>(hwy::LimitsMax<T>())));
  }

  RequantizeF f;
  RequantizeV low, high, divisor, inverse, zero_point;
};

/// Largest bias, in levels, whose rounding cannot carry a product over a tie.
inline constexpr float kMaxBias = 512;

/// `count` columns of V vectors: all of them but in the last vector of a row.
template <int64_t V, typename T>
HWY_INLINE void column_block(const SumRows& from, const float* scale, const float* bias,
                             const Requantization& r, const ExactQuantized<T>& exact, T* q, int64_t pitch) {
  const RequantizeF f;
  const hn::RebindToSigned<RequantizeF> i32;
  RequantizeV scales[V], biases[V], steps[V], starts[V];
  // In levels: one product and sum, whose last bits differ from those of the operators one by one. That
  // matters beside ties only, and these are left to them.
  bool near = r.scale > 0;
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) {
    scales[v] = hn::LoadU(f, scale + v * kRequantizeLanes);
    biases[v] = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias + v * kRequantizeLanes);
    steps[v] = hn::Mul(scales[v], exact.inverse);
    const RequantizeV levels = hn::Mul(biases[v], exact.inverse);
    near = near && hn::AllTrue(f, hn::And(hn::Lt(hn::Abs(levels), hn::Set(f, kMaxBias)),
                                          hn::Lt(hn::Abs(steps[v]), hn::Set(f, 1e30F))));
    starts[v] = hn::Add(levels, exact.zero_point);
  }
  // Bounds become levels, too: rounding keeps order.
  const RequantizeV zero = hn::Zero(f), one = hn::Set(f, 1.0F);
  const RequantizeV least = exact.of(exact.low, one, zero), most = exact.of(exact.high, one, zero);
  const RequantizeV rounder = hn::Set(f, kRounder), tie = hn::Set(f, 0.4995F);
  for (int64_t row = 0; row < from.rows; ++row, q += pitch) {
    const int32_t* const sums = from.sums + row * from.stride;
    RequantizeV sum[V], rounded[V];
    auto apart = hn::Lt(zero, one);
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v) {
      sum[v] = hn::ConvertTo(f, hn::LoadU(i32, sums + v * kRequantizeLanes));
      const RequantizeV level = hn::Min(hn::Max(hn::MulAdd(sum[v], steps[v], starts[v]), least), most);
      rounded[v] = hn::Add(level, rounder);
      apart = hn::And(apart, hn::Lt(hn::Abs(hn::Sub(level, hn::Sub(rounded[v], rounder))), tie));
    }
    if (HWY_LIKELY(near && hn::AllTrue(f, apart))) {
      ASSAY_UNROLL
      for (int64_t v = 0; v < V; ++v) store_quantized(rounded[v], q + v * kRequantizeLanes);
      continue;
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v)
      store_quantized(hn::Add(exact.of(sum[v], scales[v], biases[v]), rounder), q + v * kRequantizeLanes);
  }
}

/// Columns that fill no vector.
template <typename T>
void last_columns(const SumRows& from, const float* scale, const float* bias, const Requantization& r,
                  const ExactQuantized<T>& exact, T* q, int64_t pitch) {
  const auto count = static_cast<size_t>(from.columns);
  float scales[kRequantizeLanes] = {}, biases[kRequantizeLanes] = {};
  int32_t sums[kRequantizeLanes] = {};
  T levels[kRequantizeLanes];
  std::memcpy(scales, scale, count * sizeof(float));
  if (bias != nullptr) std::memcpy(biases, bias, count * sizeof(float));
  for (int64_t row = 0; row < from.rows; ++row, q += pitch) {
    std::memcpy(sums, from.sums + row * from.stride, count * sizeof(int32_t));
    column_block<1>({sums, 0, 1, kRequantizeLanes}, scales, biases, r, exact, levels, 0);
    std::memcpy(q, levels, count);
  }
}

template <typename T>
void requantize_to(const SumRows& from, const float* scale, const float* bias, const Requantization& r, T* q,
                   int64_t pitch) {
  const ExactQuantized<T> exact(r);
  int64_t c = 0;
  const auto rest = [&](int64_t columns) { return SumRows{from.sums + c, from.stride, from.rows, columns}; };
  const auto at = [&](const float* p) { return p == nullptr ? nullptr : p + c; };
  for (; c + 4 * kRequantizeLanes <= from.columns; c += 4 * kRequantizeLanes)
    column_block<4>(rest(4 * kRequantizeLanes), scale + c, at(bias), r, exact, q + c, pitch);
  for (; c + kRequantizeLanes <= from.columns; c += kRequantizeLanes)
    column_block<1>(rest(kRequantizeLanes), scale + c, at(bias), r, exact, q + c, pitch);
  if (c < from.columns) last_columns(rest(from.columns - c), scale + c, at(bias), r, exact, q + c, pitch);
}

void requantize_rows(const SumRows& from, const float* scale, const float* bias, const Requantization& r,
                     void* q, int64_t pitch) {
  if (r.is_signed)
    requantize_to(from, scale, bias, r, static_cast<int8_t*>(q), pitch);
  else
    requantize_to(from, scale, bias, r, static_cast<uint8_t*>(q), pitch);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(requantize_rows);

void requantize(const SumRows& from, const QuantizedEpilogue& end) noexcept {
  HWY_DYNAMIC_DISPATCH(requantize_rows)(from, end.scale, end.bias, end.requantization, end.q, end.pitch);
}

}  // namespace assay::kernels
#endif
