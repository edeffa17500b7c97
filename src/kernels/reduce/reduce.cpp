#include "kernels/reduce/reduce.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// How a reduction starts from the first element, takes in one more, and joins two partial results.
struct SumStep {
  static HWY_INLINE VF step(VF sum, VF x) { return hn::Add(sum, x); }
  static HWY_INLINE VF join(VF a, VF b) { return hn::Add(a, b); }
  static HWY_INLINE float join(float a, float b) { return a + b; }
  static HWY_INLINE float step(float sum, float x) { return sum + x; }
  static HWY_INLINE float start(float) { return 0; }
  static HWY_INLINE VF start(VF) { return hn::Zero(F()); }
};
struct SquareStep : SumStep {
  static HWY_INLINE VF step(VF sum, VF x) { return hn::MulAdd(x, x, sum); }
  static HWY_INLINE float step(float sum, float x) { return sum + x * x; }
};
struct AbsStep : SumStep {
  static HWY_INLINE VF step(VF sum, VF x) { return hn::Add(sum, hn::Abs(x)); }
  static HWY_INLINE float step(float sum, float x) { return sum + std::abs(x); }
};
struct MaxStep {
  static HWY_INLINE VF step(VF a, VF b) { return max_nan(a, b); }
  static HWY_INLINE VF join(VF a, VF b) { return max_nan(a, b); }
  static HWY_INLINE float step(float a, float b) { return std::isnan(a) || a >= b ? a : b; }
  static HWY_INLINE float join(float a, float b) { return step(a, b); }
  static HWY_INLINE float start(float first) { return first; }
  static HWY_INLINE VF start(VF first) { return first; }
};
struct MinStep {
  static HWY_INLINE VF step(VF a, VF b) { return min_nan(a, b); }
  static HWY_INLINE VF join(VF a, VF b) { return min_nan(a, b); }
  static HWY_INLINE float step(float a, float b) { return std::isnan(a) || a <= b ? a : b; }
  static HWY_INLINE float join(float a, float b) { return step(a, b); }
  static HWY_INLINE float start(float first) { return first; }
  static HWY_INLINE VF start(VF first) { return first; }
};

/// One value per lane, joined in lane order.
template <typename S>
HWY_INLINE float join_lanes(VF v) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, F(), lanes);
  float y = lanes[0];
  for (size_t i = 1; i < hn::Lanes(F()); ++i) y = S::join(y, lanes[i]);
  return y;
}

template <typename S>
float reduce_row(const float* x, int64_t count) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  float y = S::start(x[0]);
  int64_t i = 0;
  if (count >= 4 * lanes) {
    const VF first = hn::Set(f, S::start(x[0]));
    VF a = first, b = first, c = first, d = first;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      a = S::step(a, hn::LoadU(f, x + i));
      b = S::step(b, hn::LoadU(f, x + i + lanes));
      c = S::step(c, hn::LoadU(f, x + i + 2 * lanes));
      d = S::step(d, hn::LoadU(f, x + i + 3 * lanes));
    }
    y = join_lanes<S>(S::join(S::join(a, b), S::join(c, d)));
  }
  for (; i < count; ++i) y = S::step(y, x[i]);
  return y;
}

/// n columns of `count` rows that are `inner` apart; a partial result covers 64 rows.
template <typename S>
void reduce_columns(const float* x, float* out, int64_t count, int64_t inner, int64_t n) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    VF total = S::start(hn::LoadU(f, x + i));
    for (int64_t r = 0; r < count;) {
      VF part = S::start(hn::LoadU(f, x + r * inner + i));
      for (const int64_t end = std::min(count, r + 64); r < end; ++r)
        part = S::step(part, hn::LoadU(f, x + r * inner + i));
      total = S::join(total, part);
    }
    hn::StoreU(total, f, out + i);
  }
  for (; i < n; ++i) {
    float total = S::start(x[i]);
    for (int64_t r = 0; r < count;) {
      float part = S::start(x[r * inner + i]);
      for (const int64_t end = std::min(count, r + 64); r < end; ++r) part = S::step(part, x[r * inner + i]);
      total = S::join(total, part);
    }
    out[i] = total;
  }
}

template <typename S>
void reduce_range(const float* in, float* out, int64_t count, int64_t inner, int64_t first, int64_t last) {
  if (inner == 1) {
    for (int64_t o = first; o < last; ++o) out[o] = reduce_row<S>(in + o * count, count);
    return;
  }
  // The range counts output elements; it may begin and end inside a group.
  for (int64_t at = first; at < last;) {
    const int64_t o = at / inner, i = at % inner, n = std::min(inner - i, last - at);
    reduce_columns<S>(in + o * count * inner + i, out + at, count, inner, n);
    at += n;
  }
}

void reduce_part(Reduction kind, const float* in, float* out, int64_t count, int64_t inner, int64_t first,
                 int64_t last) {
  switch (kind) {
    case Reduction::kSum:
    case Reduction::kMean:
      reduce_range<SumStep>(in, out, count, inner, first, last);
      break;
    case Reduction::kMax:
      reduce_range<MaxStep>(in, out, count, inner, first, last);
      break;
    case Reduction::kMin:
      reduce_range<MinStep>(in, out, count, inner, first, last);
      break;
    case Reduction::kSumSquare:
    case Reduction::kL2:
      reduce_range<SquareStep>(in, out, count, inner, first, last);
      break;
    case Reduction::kL1:
      reduce_range<AbsStep>(in, out, count, inner, first, last);
      break;
  }
  if (kind == Reduction::kMean)
    for (int64_t i = first; i < last; ++i) out[i] /= static_cast<float>(count);
  if (kind == Reduction::kL2)
    for (int64_t i = first; i < last; ++i) out[i] = std::sqrt(out[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(reduce_part);

void reduce(Reduction kind, const float* in, float* out, int64_t outer, int64_t count,
            int64_t inner) noexcept {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(count, 1));
  parallel_for(outer * inner, grain, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(reduce_part)(kind, in, out, count, inner, first, last);
  });
}

}  // namespace assay::kernels
#endif
