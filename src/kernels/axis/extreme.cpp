#include "kernels/axis/extreme.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/axis/extreme.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace extreme {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors whose columns are searched side by side.
constexpr size_t kGroup = 4;

/// Whether a candidate that stands behind the best one so far takes its place.
template <typename D, typename V>
HWY_INLINE auto wins(D, ExtremeRule rule, V candidate, V best) {
  const V high = rule.largest ? candidate : best, low = rule.largest ? best : candidate;
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    const auto better = rule.last ? hn::Ge(high, low) : hn::Gt(high, low), nan = hn::IsNaN(candidate);
    return hn::Or(better, rule.last ? nan : hn::AndNot(hn::IsNaN(best), nan));
  } else {
    return rule.last ? hn::Not(hn::Gt(low, high)) : hn::Gt(high, low);
  }
}

template <typename T>
bool wins_one(ExtremeRule rule, T candidate, T best) {
  if (candidate != candidate) return rule.last || best == best;
  const bool is_better = rule.largest ? candidate > best : candidate < best;
  return best == best && (is_better || (rule.last && candidate == best));
}

/// Rows [0, rows) of kVectors vectors of columns from x on, rows `stride` apart; rows fit in an unsigned
/// number as wide as T.
template <size_t kVectors, typename T>
void search_columns(const T* x, int64_t rows, int64_t stride, ExtremeRule rule, T* best_out,
                    hwy::MakeUnsigned<T>* place_out) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> best[kVectors];
  hn::Vec<decltype(du)> place[kVectors];
  ASSAY_UNROLL
  for (size_t v = 0; v < kVectors; ++v) {
    best[v] = hn::LoadU(d, x + v * lanes);
    place[v] = hn::Zero(du);
  }
  auto row = hn::Set(du, 1);
  const auto one = hn::Set(du, 1);
  for (int64_t r = 1; r < rows; ++r) {
    const T* const from = x + r * stride;
    ASSAY_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      const auto candidate = hn::LoadU(d, from + v * lanes);
      const auto better = wins(d, rule, candidate, best[v]);
      best[v] = hn::IfThenElse(better, candidate, best[v]);
      place[v] = hn::IfThenElse(hn::RebindMask(du, better), row, place[v]);
    }
    row = hn::Add(row, one);
  }
  ASSAY_UNROLL
  for (size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(best[v], d, best_out + v * lanes);
    hn::StoreU(place[v], du, place_out + v * lanes);
  }
}

/// The same, with a row for each of any number of rows, into places that say the row.
template <size_t kVectors, typename T>
void search_rows(const T* x, int64_t rows, int64_t stride, ExtremeRule rule, T* best, int64_t* places) {
  using Unsigned = hwy::MakeUnsigned<T>;
  constexpr int64_t kMax = sizeof(T) >= 4 ? std::numeric_limits<int32_t>::max()
                                          : static_cast<int64_t>(std::numeric_limits<Unsigned>::max());
  constexpr size_t kColumns = kVectors * HWY_MAX_BYTES / sizeof(T);
  const size_t columns = kVectors * hn::Lanes(hn::ScalableTag<T>());
  T found[kColumns];
  Unsigned at[kColumns];
  for (int64_t first = 0; first < rows; first += kMax) {
    search_columns<kVectors>(x + first * stride, std::min(kMax, rows - first), stride, rule, found, at);
    for (size_t i = 0; i < columns; ++i) {
      if (first > 0 && !wins_one(rule, found[i], best[i])) continue;
      best[i] = found[i];
      places[i] = first + static_cast<int64_t>(at[i]);
    }
  }
}

template <typename T>
int64_t search_plain(const T* x, int64_t count, int64_t stride, ExtremeRule rule) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (wins_one(rule, x[i * stride], x[best * stride])) best = i;
  return best;
}

/// A line that lies in one piece: the columns of a matrix of a few vectors, and what is left.
template <typename T>
int64_t search_line(const T* x, int64_t count, ExtremeRule rule) {
  constexpr size_t kColumns = kGroup * HWY_MAX_BYTES / sizeof(T);
  const auto width = static_cast<int64_t>(kGroup * hn::Lanes(hn::ScalableTag<T>()));
  const int64_t rows = count / width;
  if (rows < 2) return search_plain(x, count, 1, rule);
  T best[kColumns];
  int64_t places[kColumns];
  search_rows<kGroup>(x, rows, width, rule, best, places);
  int64_t place = places[0] * width;
  T value = best[0];
  for (int64_t i = 1; i < width; ++i) {
    const int64_t at = places[i] * width + i;
    // Which of the two stands first decides what wins.
    const bool takes = at > place ? wins_one(rule, best[i], value) : !wins_one(rule, value, best[i]);
    if (!takes) continue;
    place = at;
    value = best[i];
  }
  for (int64_t i = rows * width; i < count; ++i)
    if (wins_one(rule, x[i], value)) {
      place = i;
      value = x[i];
    }
  return place;
}

/// Columns [first, last) of a part [extent, inner].
template <typename T>
void search_part(const AxisWalk& w, ExtremeRule rule, const T* x, int64_t first, int64_t last,
                 int64_t* places) {
  constexpr size_t kColumns = kGroup * HWY_MAX_BYTES / sizeof(T);
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  T best[kColumns];
  int64_t i = first;
  for (; i + static_cast<int64_t>(kGroup) * lanes <= last; i += static_cast<int64_t>(kGroup) * lanes)
    search_rows<kGroup>(x + i, w.extent, w.inner, rule, best, places + i);
  for (; i + lanes <= last; i += lanes) search_rows<1>(x + i, w.extent, w.inner, rule, best, places + i);
  for (; i < last; ++i) places[i] = search_plain(x + i, w.extent, w.inner, rule);
}

}  // namespace extreme

/// Lines [first, last), counted along inner, then outer.
void search_lines(const AxisWalk& w, DType type, ExtremeRule rule, const void* x, int64_t first, int64_t last,
                  int64_t* places) {
  visit_number(type, [&](auto e) {
    using T = decltype(e);
    const T* const from = static_cast<const T*>(x);
    if (w.inner == 1) {
      for (int64_t line = first; line < last; ++line)
        places[line] = extreme::search_line(from + line * w.extent, w.extent, rule);
      return;
    }
    while (first < last) {
      const int64_t part = first / w.inner, start = first % w.inner,
                    end = std::min(w.inner, start + last - first);
      extreme::search_part(w, rule, from + part * w.extent * w.inner, start, end, places + part * w.inner);
      first += end - start;
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(search_lines);

void find_extremes(const AxisWalk& walk, DType type, ExtremeRule rule, const void* x,
                   int64_t* places) noexcept {
  if (walk.lines() == 0) return;
  // Pieces of whole cache lines of columns.
  constexpr int64_t kColumnsAtOnce = 256, kGrainOfExtremes = 16384;
  const int64_t step = walk.inner == 1 ? 1 : std::min<int64_t>(kColumnsAtOnce, walk.inner);
  const int64_t pieces = (walk.lines() + step - 1) / step;
  parallel_for(pieces, std::max<int64_t>(1, kGrainOfExtremes / (step * walk.extent)),
               [&](int64_t first, int64_t last) {
                 HWY_DYNAMIC_DISPATCH(search_lines)
                 (walk, type, rule, x, first * step, std::min(walk.lines(), last * step), places);
               });
}

}  // namespace assay::kernels
#endif
