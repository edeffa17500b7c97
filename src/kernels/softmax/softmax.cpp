#include "kernels/softmax/softmax.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax/softmax.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// x[i] of a row, scaled, with the mask added when there is one; lanes past the end are -infinity.
struct Row {
  const float* x;
  const float* mask;  // null: none
  int64_t mask_stride;
  float scale;

  HWY_INLINE VF value(VF v, VF m) const { return hn::MulAdd(v, constant(scale), m); }
  HWY_INLINE VF whole(int64_t i) const {
    const VF v = hn::LoadU(F(), x + i);
    if (mask == nullptr) return hn::Mul(v, constant(scale));
    return value(v, mask_stride == 0 ? constant(mask[0]) : hn::LoadU(F(), mask + i));
  }
  HWY_INLINE VF first(int64_t i, size_t n) const {
    const VF v = load_first(x + i, n);
    VF y = hn::Mul(v, constant(scale));
    if (mask != nullptr) y = value(v, mask_stride == 0 ? constant(mask[0]) : load_first(mask + i, n));
    return hn::IfThenElse(hn::FirstN(F(), n), y, hn::Neg(hn::Inf(F())));
  }
};

HWY_INLINE float row_max(const Row& row, int64_t n) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  VF m = hn::Neg(hn::Inf(f));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) m = max_nan(m, row.whole(i));
  if (i < n) m = max_nan(m, row.first(i, static_cast<size_t>(n - i)));
  HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(m, f, values);
  float y = values[0];
  for (int64_t l = 1; l < lanes; ++l)
    if (!(y >= values[l]) && !std::isnan(y)) y = values[l];
  return y;
}

/// Writes e^(x - m) to out when it is not null, see exp_of_part(); returns the sum.
HWY_INLINE float exp_row(const Row& row, float m, float* out, int64_t n) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  const VF vm = constant(m);
  VF sum = hn::Zero(f);
  int64_t i = 0;
  constexpr auto kStep = static_cast<int64_t>(kTogether);
  if (n >= kStep * lanes) {
    Vectors sums;  // {} leaves NEON's vectors as they are
    ASSAY_UNROLL
    for (size_t k = 0; k < kTogether; ++k) sums.v[k] = hn::Zero(f);
    for (; i + kStep * lanes <= n; i += kStep * lanes) {
      Vectors x;
      ASSAY_UNROLL
      for (int64_t k = 0; k < kStep; ++k) x.v[k] = row.whole(i + k * lanes);
      const Vectors e = exp_of_part(sub(x, vm));
      sums = add(sums, e);
      if (out != nullptr) store_together(e, out + i);
    }
    ASSAY_UNROLL
    for (size_t k = 0; k < kTogether; ++k) sum = hn::Add(sum, sums.v[k]);
  }
  for (; i + lanes <= n; i += lanes) {
    const VF e = exp_of_part(hn::Sub(row.whole(i), vm));
    sum = hn::Add(sum, e);
    if (out != nullptr) hn::StoreU(e, f, out + i);
  }
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    const VF e = exp_of_part(hn::Sub(row.first(i, left), vm));
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(f, left), e));
    if (out != nullptr) store_first(e, out + i, left);
  }
  return hn::GetLane(hn::SumOfLanes(f, sum));
}

void scale_row(float* x, float factor, int64_t n) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  const VF k = constant(factor);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(f, x + i), k), f, x + i);
  for (; i < n; ++i) x[i] *= factor;
}

void softmax_rows(const float* in, float* out, int64_t n, float scale, const SoftmaxMask& mask, int64_t first,
                  int64_t last) {
  for (int64_t r = first; r < last; ++r) {
    Row row{in + r * n, nullptr, mask.key_stride, scale};
    if (mask.data != nullptr) {
      const int64_t q = r % mask.queries, h = r / mask.queries % mask.heads,
                    b = r / mask.queries / mask.heads;
      row.mask = mask.data + b * mask.batch_stride + h * mask.head_stride + q * mask.query_stride;
    }
    const float sum = exp_row(row, row_max(row, n), out + r * n, n);
    scale_row(out + r * n, 1.0f / sum, n);
  }
}

void log_softmax_rows(const float* in, float* out, int64_t n, int64_t first, int64_t last) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t r = first; r < last; ++r) {
    const float* x = in + r * n;
    float* y = out + r * n;
    const Row row{x, nullptr, 0, 1};
    const float m = row_max(row, n);
    const float log_sum = std::log(exp_row(row, m, nullptr, n));
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(f, x + i), constant(m)), constant(log_sum)), f, y + i);
    for (; i < n; ++i) y[i] = (x[i] - m) - log_sum;
  }
}

/// `columns` neighbouring columns (up to one vector) of `count` rows that are `stride` apart.
void softmax_columns(const float* x, float* y, int64_t count, int64_t stride, size_t columns, float scale,
                     bool logarithm) {
  const bool whole = columns == hn::Lanes(F());
  const VF k = constant(scale);
  const auto load = [&](const float* p)
                        HWY_ATTR { return whole ? hn::LoadU(F(), p) : load_first(p, columns); };
  const auto store = [&](VF v, float* p)
                         HWY_ATTR { whole ? hn::StoreU(v, F(), p) : store_first(v, p, columns); };
  VF m = hn::Neg(hn::Inf(F()));
  for (int64_t r = 0; r < count; ++r) m = max_nan(m, hn::Mul(load(x + r * stride), k));
  VF sum = hn::Zero(F());
  for (int64_t r = 0; r < count; ++r) {
    const VF shifted = hn::Sub(hn::Mul(load(x + r * stride), k), m);
    const VF e = exp_of_part(shifted);
    sum = hn::Add(sum, e);
    store(logarithm ? shifted : e, y + r * stride);
  }
  const VF factor = logarithm ? log(sum) : hn::Div(constant(1.0f), sum);
  for (int64_t r = 0; r < count; ++r) {
    const VF v = load(y + r * stride);
    store(logarithm ? hn::Sub(v, factor) : hn::Mul(v, factor), y + r * stride);
  }
}

void softmax_inner(const float* in, float* out, int64_t count, int64_t inner, float scale, bool logarithm,
                   int64_t first, int64_t last) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F())), vectors = (inner + lanes - 1) / lanes;
  for (int64_t v = first; v < last; ++v) {
    const int64_t at = v / vectors * count * inner + v % vectors * lanes;
    const int64_t columns = std::min(lanes, inner - v % vectors * lanes);
    softmax_columns(in + at, out + at, count, inner, static_cast<size_t>(columns), scale, logarithm);
  }
}

int64_t vectors_across(int64_t inner) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(F()));
  return (inner + lanes - 1) / lanes;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(softmax_inner);
HWY_EXPORT(vectors_across);

namespace {

/// Elements that a thread should handle at least.
int64_t grain(int64_t elements_per_item) {
  return std::max<int64_t>(1, 4096 / std::max<int64_t>(elements_per_item, 1));
}

void by_columns(const float* in, float* out, int64_t outer, int64_t count, int64_t inner, float scale,
                bool logarithm) {
  const int64_t items = outer * HWY_DYNAMIC_DISPATCH(vectors_across)(inner);
  parallel_for(items, grain(count * 16), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(softmax_inner)(in, out, count, inner, scale, logarithm, first, last);
  });
}

}  // namespace

void softmax(const float* in, float* out, int64_t outer, int64_t count, int64_t inner, float scale) noexcept {
  if (inner != 1) return by_columns(in, out, outer, count, inner, scale, false);
  masked_softmax(in, out, outer, count, scale, {});
}

void log_softmax(const float* in, float* out, int64_t outer, int64_t count, int64_t inner) noexcept {
  if (inner != 1) return by_columns(in, out, outer, count, inner, 1, true);
  parallel_for(outer, grain(count), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(log_softmax_rows)(in, out, count, first, last);
  });
}

void masked_softmax(const float* in, float* out, int64_t rows, int64_t keys, float scale,
                    const SoftmaxMask& mask) noexcept {
  parallel_for(rows, grain(keys), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(softmax_rows)(in, out, keys, scale, mask, first, last);
  });
}

}  // namespace assay::kernels
#endif
