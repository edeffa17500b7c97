#include "kernels/axis/running.h"

#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/axis/running.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace running {

/// Lines that run side by side: the next step of one waits for its last, those of others do not. More rows,
/// which may all lie a power of two apart, would meet in the cache.
constexpr int64_t kRows = 4, kColumns = 32;

template <typename T>
using Sum = std::conditional_t<
    std::is_same_v<T, float>, double,
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type>;

struct Add {
  template <typename S>
  HWY_INLINE S operator()(S a, S b) const {
    return a + b;
  }
  static constexpr int kIdentity = 0;
};
struct Multiply {
  template <typename S>
  HWY_INLINE S operator()(S a, S b) const {
    return a * b;
  }
  static constexpr int kIdentity = 1;
};

/// kLines lines that each lie in one piece, `extent` apart.
template <int64_t kLines, typename T, typename Join>
void run_rows(const T* x, T* y, int64_t extent, RunningRule rule, Join join) {
  Sum<T> so_far[kLines];
  ASSAY_UNROLL
  for (int64_t i = 0; i < kLines; ++i) so_far[i] = static_cast<Sum<T>>(Join::kIdentity);
  for (int64_t j = 0; j < extent; ++j) {
    const int64_t at = rule.reverse ? extent - 1 - j : j;
    ASSAY_UNROLL
    for (int64_t i = 0; i < kLines; ++i) {
      const Sum<T> before = so_far[i];
      so_far[i] = join(before, static_cast<Sum<T>>(x[at + i * extent]));
      y[at + i * extent] = static_cast<T>(rule.exclusive ? before : so_far[i]);
    }
  }
}

/// `columns` lines side by side: kCount, or if that is 0 up to kColumns.
template <int64_t kCount, typename T, typename Join>
void run_columns(const T* x, T* y, int64_t columns, int64_t extent, int64_t inner, RunningRule rule,
                 Join join) {
  const int64_t count = kCount != 0 ? kCount : columns;
  Sum<T> so_far[kColumns];
  std::fill_n(so_far, kColumns, static_cast<Sum<T>>(Join::kIdentity));
  for (int64_t j = 0; j < extent; ++j) {
    const int64_t at = (rule.reverse ? extent - 1 - j : j) * inner;
    const T* const from = x + at;
    T* const to = y + at;
    if (rule.exclusive) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        const T element = from[i];
        to[i] = static_cast<T>(so_far[i]);
        so_far[i] = join(so_far[i], static_cast<Sum<T>>(element));
      }
    } else {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        so_far[i] = join(so_far[i], static_cast<Sum<T>>(from[i]));
        to[i] = static_cast<T>(so_far[i]);
      }
    }
  }
}

template <typename T, typename Join>
void run_with(const AxisWalk& w, RunningRule rule, const T* x, T* y, int64_t first, int64_t last, Join join) {
  if (w.inner == 1) {
    int64_t line = first;
    for (; line + kRows <= last; line += kRows)
      run_rows<kRows>(x + line * w.extent, y + line * w.extent, w.extent, rule, join);
    for (; line < last; ++line) run_rows<1>(x + line * w.extent, y + line * w.extent, w.extent, rule, join);
    return;
  }
  while (first < last) {
    const int64_t column = first % w.inner, at = first / w.inner * w.extent * w.inner + column;
    const int64_t columns = std::min({kColumns, w.inner - column, last - first});
    columns == kColumns ? run_columns<kColumns>(x + at, y + at, columns, w.extent, w.inner, rule, join)
                        : run_columns<0>(x + at, y + at, columns, w.extent, w.inner, rule, join);
    first += columns;
  }
}

}  // namespace running

/// Lines [first, last), counted along inner, then outer.
void run_axis_lines(const AxisWalk& w, DType type, RunningRule rule, const void* x, void* y, int64_t first,
                    int64_t last) {
  visit_number(type, [&](auto e) {
    using T = decltype(e);
    if constexpr (sizeof(T) >= 4) {
      const auto* from = static_cast<const T*>(x);
      auto* to = static_cast<T*>(y);
      if (rule.product)
        running::run_with(w, rule, from, to, first, last, running::Multiply());
      else
        running::run_with(w, rule, from, to, first, last, running::Add());
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(run_axis_lines);

bool is_running_number(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat64 || (is_integer(type) && bit_width(type) >= 32);
}

void run_along(const AxisWalk& walk, DType type, RunningRule rule, const void* x, void* y) noexcept {
  if (walk.lines() == 0 || walk.extent == 0) return;
  constexpr int64_t kAtOnce = 8, kGrainOfSteps = 8192;
  parallel_for((walk.lines() + kAtOnce - 1) / kAtOnce,
               std::max<int64_t>(1, kGrainOfSteps / (kAtOnce * walk.extent)),
               [&](int64_t first, int64_t last) {
                 HWY_DYNAMIC_DISPATCH(run_axis_lines)
                 (walk, type, rule, x, y, first * kAtOnce, std::min(walk.lines(), last * kAtOnce));
               });
}

}  // namespace assay::kernels
#endif
