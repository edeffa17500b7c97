#include "kernels/normalize/normalize.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalize/normalize.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Sum over i of term(x[i]) in four accumulators; lanes past the end are left out.
template <typename Term>
HWY_INLINE float sum_terms(const float* x, int64_t n, Term term) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  VF a = hn::Zero(f), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, term(hn::LoadU(f, x + i)));
    b = hn::Add(b, term(hn::LoadU(f, x + i + lanes)));
    c = hn::Add(c, term(hn::LoadU(f, x + i + 2 * lanes)));
    d = hn::Add(d, term(hn::LoadU(f, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(hn::LoadU(f, x + i)));
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    b = hn::Add(b, hn::IfThenElseZero(hn::FirstN(f, left), term(load_first(x + i, left))));
  }
  return hn::GetLane(hn::SumOfLanes(f, hn::Add(hn::Add(a, b), hn::Add(c, d))));
}

/// out[i] = fn(x[i], i); fn loads its own operands through the given loader.
template <typename Fn>
HWY_INLINE void map_row(const float* x, float* out, int64_t n, Fn fn) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(fn(hn::LoadU(f, x + i), [&](const float* p) HWY_ATTR { return hn::LoadU(F(), p + i); }), f,
               out + i);
  if (i < n) {
    const size_t left = static_cast<size_t>(n - i);
    store_first(fn(load_first(x + i, left), [&](const float* p) HWY_ATTR { return load_first(p + i, left); }),
                out + i, left);
  }
}

void apply_row(const Normalization& n, const float* x, float mean, float factor, const float* scale,
               const float* shift, int64_t row, float* out) {
  const VF m = constant(mean), k = constant(factor);
  if (n.per == Normalization::Per::kRow) {
    const int64_t at = row % n.period;
    const VF s = constant(factor * (scale != nullptr ? scale[at] : 1.0f)),
             b = constant(shift != nullptr ? shift[at] : 0.0f);
    map_row(x, out, n.columns, [=](VF v, auto) HWY_ATTR { return hn::MulAdd(hn::Sub(v, m), s, b); });
  } else if (scale == nullptr && shift == nullptr) {
    map_row(x, out, n.columns, [=](VF v, auto) HWY_ATTR { return hn::Mul(hn::Sub(v, m), k); });
  } else if (shift == nullptr) {
    map_row(x, out, n.columns,
            [=](VF v, auto load) HWY_ATTR { return hn::Mul(hn::Mul(hn::Sub(v, m), k), load(scale)); });
  } else if (scale == nullptr) {
    map_row(x, out, n.columns,
            [=](VF v, auto load) HWY_ATTR { return hn::MulAdd(hn::Sub(v, m), k, load(shift)); });
  } else {
    map_row(x, out, n.columns, [=](VF v, auto load) HWY_ATTR {
      return hn::MulAdd(hn::Mul(hn::Sub(v, m), k), load(scale), load(shift));
    });
  }
}

void normalize_part(const Normalization& n, const float* in, const float* addend, const float* scale,
                    const float* shift, float* out, float* sum_out, int64_t first, int64_t last) {
  const float count = static_cast<float>(n.columns);
  for (int64_t row = first; row < last; ++row) {
    const float* x = in + row * n.columns;
    float* y = out + row * n.columns;
    if (addend != nullptr) {
      const float* r = addend + row * n.columns;
      float* sum = sum_out != nullptr ? sum_out + row * n.columns : y;
      map_row(x, sum, n.columns, [=](VF v, auto load) HWY_ATTR { return hn::Add(v, load(r)); });
      x = sum;
    }
    float mean = 0, square;
    if (n.subtract_mean) {
      mean = sum_terms(x, n.columns, [](VF v) HWY_ATTR { return v; }) / count;
      const VF m = constant(mean);
      square = sum_terms(x, n.columns, [=](VF v) HWY_ATTR {
        const VF d = hn::Sub(v, m);
        return hn::Mul(d, d);
      });
    } else {
      square = sum_terms(x, n.columns, [](VF v) HWY_ATTR { return hn::Mul(v, v); });
    }
    apply_row(n, x, mean, 1.0f / std::sqrt(square / count + n.epsilon), scale, shift, row, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(normalize_part);

void normalize_rows(const Normalization& n, const float* in, const float* addend, const float* scale,
                    const float* shift, float* out, float* sum_out) noexcept {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(n.columns, 1));
  parallel_for(n.rows, grain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(normalize_part)(n, in, addend, scale, shift, out, sum_out, first, last);
  });
}

}  // namespace assay::kernels
#endif
