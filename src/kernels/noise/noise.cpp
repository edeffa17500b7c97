#include "kernels/noise/noise.h"

#include <cmath>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/noise/noise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using U = hn::RebindToUnsigned<D>;
using I = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using W = hn::Vec<U>;

constexpr uint64_t kStep = 0x9E3779B97F4A7C15U;

/// Draws for the places key + (place + 1) * kStep.
HWY_INLINE V draw(W at) {
  const U u;
  const D d;
  W z = hn::Mul(hn::Xor(at, hn::ShiftRight<30>(at)), hn::Set(u, 0xBF58476D1CE4E5B9U));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(u, 0x94D049BB133111EBU));
  z = hn::Xor(z, hn::ShiftRight<31>(z));
  const V magnitude =
      hn::Add(hn::Set(d, 0.5),
              hn::Mul(hn::ConvertTo(d, hn::BitCast(I(), hn::ShiftRight<11>(z))), hn::Set(d, 0x1p-54)));
  // An odd number is positive.
  const V sign = hn::BitCast(d, hn::ShiftLeft<63>(hn::AndNot(z, hn::Set(u, 1))));
  return hn::Or(magnitude, sign);
}

void random_errors(const RandomErrors& errors, uint64_t first, int64_t count, const double* HWY_RESTRICT size,
                   const double* y, double* out) {
  const D d;
  const U u;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN uint64_t steps[hn::MaxLanes(U())];
  for (int64_t i = 0; i < lanes; ++i) steps[i] = static_cast<uint64_t>(i) * kStep;
  const W offsets = hn::Load(u, steps), stride = hn::Set(u, static_cast<uint64_t>(lanes) * kStep);
  W at = hn::Add(hn::Set(u, errors.key + (first + 1) * kStep), offsets);
  W again = hn::Add(hn::Set(u, errors.repeated_key + (first + 1) * kStep), offsets);
  const V beside = hn::Set(d, errors.beside), overflow = hn::Set(d, errors.overflow), zero = hn::Zero(d);
  const V infinity = hn::Set(d, HUGE_VAL), one = hn::Set(d, 1.0);
  const auto with_error = [&](V value, V bound) HWY_ATTR {
    V drawn = draw(at);
    if (errors.repeats) drawn = hn::Add(drawn, hn::Mul(hn::Set(d, 0.5), draw(again)));
    const V most = hn::IfThenElse(hn::Gt(bound, zero), hn::Add(bound, beside), bound);
    const V error = hn::Mul(most, drawn);
    V result = hn::IfThenElse(hn::Lt(hn::Abs(error), infinity), hn::Add(value, error), value);
    const auto turned =
        hn::And(hn::Lt(hn::Mul(hn::CopySign(one, result), value), zero), hn::Le(bound, hn::Abs(value)));
    result = hn::IfThenZeroElse(turned, result);
    const auto unbounded = hn::And(hn::Eq(bound, infinity), hn::Lt(hn::Abs(value), infinity));
    result = hn::IfThenElse(unbounded, hn::NaN(d), result);
    return hn::IfThenElse(hn::Ge(hn::Abs(result), overflow), hn::CopySign(infinity, result), result);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(with_error(hn::LoadU(d, y + i), hn::LoadU(d, size + i)), d, out + i);
    at = hn::Add(at, stride);
    again = hn::Add(again, stride);
  }
  if (i == count) return;
  HWY_ALIGN double values[hn::MaxLanes(D())] = {}, bounds[hn::MaxLanes(D())] = {};
  for (int64_t k = i; k < count; ++k) values[k - i] = y[k], bounds[k - i] = size[k];
  hn::Store(with_error(hn::Load(d, values), hn::Load(d, bounds)), d, values);
  for (int64_t k = i; k < count; ++k) out[k] = values[k - i];
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(random_errors);

void add_random_errors(const RandomErrors& errors, uint64_t first, int64_t count, const double* y,
                       const double* size, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(random_errors)(errors, first, count, size, y, out);
}

}  // namespace assay::kernels
#endif
