#include "arbiter/within_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "ops/eval_util.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

/// Elements that are looked at together.
constexpr int64_t kTogether = 256;
using Row = std::array<double, kTogether>;

/// Calls f(first, count, numbers) for runs of elements of a tensor, which arrive as double, in parallel;
/// every range is worked through by one call of `range`, which makes f.
template <typename Range>
void for_rows(const Tensor& t, Range range) {
  const Tensor wide = t.dtype() == DType::kFloat32 ? t : to_float64(t);
  const bool is_wide = wide.dtype() == DType::kFloat64;
  parallel_for(t.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    range([&](auto f) {
      Row row;
      for (int64_t i = first; i < last; i += kTogether) {
        const int64_t count = std::min(kTogether, last - i);
        if (is_wide) {
          if (!f(i, count, wide.data<double>() + i)) return;
          continue;
        }
        const float* from = wide.data<float>() + i;
#pragma omp simd
        for (int64_t k = 0; k < count; ++k) row[static_cast<size_t>(k)] = static_cast<double>(from[k]);
        if (!f(i, count, row.data())) return;
      }
    });
  });
}

/// The first of the largest numbers. GCC makes no vectors of a search for a place, but of one for a number.
double largest_of(const double* x, int64_t count) {
  double most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t k = 0; k < count; ++k) most = std::max(most, x[k]);
  return most;
}

/// What the bounds of a node explain, as explained_by_node() has it for numbers that are finite.
struct NodeBounds {
  const double *y, *worst, *expected;
  double normal, floor;
  bool keeps;

  void explain(int64_t first, int64_t count, double* most) const {
    const double* at = y + first;
    if (worst == nullptr) {
#pragma omp simd
      for (int64_t k = 0; k < count; ++k)
        most[k] = std::abs(at[k]) < normal && !keeps ? std::abs(at[k]) : 0.0;
      return;
    }
    const double *w = worst + first, *e = expected + first;
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) most[k] = std::min(kOwnFactor * e[k] + floor, w[k] + floor);
  }
};

void merge(WithinBounds& into, const WithinBounds& part) {
  Deviation& d = into.deviation;
  const Deviation& p = part.deviation;
  d.max_error = std::max(d.max_error, p.max_error);
  d.rounded = d.rounded && p.rounded;
  // The first of equal ones, however the elements were shared out.
  if (p.at < 0 || (d.at >= 0 && (p.ratio < d.ratio || (p.ratio == d.ratio && p.at > d.at)))) return;
  d.ratio = p.ratio;
  d.at = p.at;
  into.explained = part.explained, into.exact = part.exact, into.result = part.result;
}

}  // namespace

namespace {

/// Runs of elements of one result, held to the bounds.
struct RowJudge {
  NodeBounds bounds;
  double u, smallest;
  /// Numbers below the normal ones may be off by so much, unless they are zero.
  double kept;

  /// False where an element is beyond them.
  bool add(int64_t first, int64_t count, const double* r, WithinBounds& part) const {
    Row most, errors, ratios;
    bounds.explain(first, count, most.data());
    const double* exact = bounds.y + first;
    int beyond = 0, unrounded = 0;
#pragma omp simd reduction(+ : beyond, unrounded)
    for (int64_t k = 0; k < count; ++k) {
      const auto i = static_cast<size_t>(k);
      const double e = std::abs(r[k] - exact[k]);
      errors[i] = e;
      ratios[i] = e > 0 ? e / most[i] : 0.0;
      const bool cut = e > kept && std::abs(exact[k]) < bounds.normal && r[k] != 0;
      beyond += e < HUGE_VAL && ratios[i] <= 1 && !cut ? 0 : 1;
      unrounded += e > u * std::abs(exact[k]) * (1 + u) + smallest ? 1 : 0;
    }
    if (beyond > 0) return false;
    Deviation& d = part.deviation;
    d.max_error = std::max(d.max_error, largest_of(errors.data(), count));
    d.rounded = d.rounded && unrounded == 0;
    const double ratio = largest_of(ratios.data(), count);
    if (ratio <= d.ratio && d.at >= 0) return true;
    const auto k =
        static_cast<size_t>(std::find(ratios.begin(), ratios.begin() + count, ratio) - ratios.begin());
    d.ratio = ratio;
    d.at = first + static_cast<int64_t>(k);
    part.explained = most[k], part.exact = exact[k], part.result = r[k];
    return true;
  }
};

/// None where noisy evaluations or a narrow type ask for more.
std::optional<RowJudge> row_judge(DType dtype, const Standard& standard) {
  const Tensor& y = standard.lanes[0];
  const bool is_wide = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const bool differ =
      std::ranges::any_of(standard.lanes, [&](const Tensor& t) { return !t.shares_storage(y); });
  if (standard.error == nullptr || !is_wide || differ) return {};
  const NodeError& error = *standard.error;
  const bool bounded = error.worst.defined();
  if (bounded && (error.worst.shape() != y.shape() || error.expected.shape() != y.shape())) return {};
  const FloatRange range = float_range(dtype);
  return RowJudge{.bounds = {.y = y.data<double>(),
                             .worst = bounded ? error.worst.data<double>() : nullptr,
                             .expected = bounded ? error.expected.data<double>() : nullptr,
                             .normal = range.normal,
                             .floor = range.normal * std::max(error.operations, 2.0),
                             .keeps = false},
                  .u = unit_roundoff(dtype),
                  .smallest = range.smallest,
                  .kept = error.operations > 1 ? HUGE_VAL : kKeptUnits * range.smallest};
}

}  // namespace

std::optional<WithinBounds> within_bounds(const Tensor& result, const Standard& standard) {
  const std::optional<RowJudge> judge = row_judge(result.dtype(), standard);
  if (!judge) return {};
  WithinBounds total;
  bool all_within = true;
  std::mutex mutex;
  for_rows(result, [&](auto each) {
    WithinBounds part;
    bool within = true;
    each([&](int64_t first, int64_t count, const double* r) {
      return within = judge->add(first, count, r, part);
    });
    const std::lock_guard lock(mutex);
    all_within = all_within && within;
    merge(total, part);
  });
  if (!all_within) return {};
  return total;
}

Distance largest_distance(const Tensor& result, const Tensor& exact) {
  Distance total;
  std::mutex mutex;
  for_rows(result, [&](auto each) {
    Distance part;
    each([&](int64_t first, int64_t count, const double* r) {
      Row errors;
      const double* y = exact.data<double>() + first;
      int special = 0;
#pragma omp simd reduction(+ : special)
      for (int64_t k = 0; k < count; ++k) {
        const double e = std::abs(r[k] - y[k]);
        errors[static_cast<size_t>(k)] = e;
        special += e < HUGE_VAL ? 0 : 1;
      }
      if (special > 0)
        for (int64_t k = 0; k < count; ++k) {
          double& e = errors[static_cast<size_t>(k)];
          if (e < HUGE_VAL) continue;
          e = r[k] == y[k] || (std::isnan(r[k]) && std::isnan(y[k])) ? 0 : HUGE_VAL;
        }
      const double most = largest_of(errors.data(), count);
      if (most <= part.most) return true;
      part.most = most;
      part.at = first + (std::find(errors.begin(), errors.begin() + count, most) - errors.begin());
      return true;
    });
    const std::lock_guard lock(mutex);
    if (part.at >= 0 && (part.most > total.most || (part.most == total.most && part.at < total.at)))
      total = part;
  });
  return total;
}

}  // namespace assay
