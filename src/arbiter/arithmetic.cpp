#include "arbiter/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// A backend whose results in a narrow type nearly all are what float32 gives, rounded once, computes in
/// float32: the few that are not are held to that.
constexpr double kMaxOf = 0.75, kBeyondMost = 3;
/// Fewer show nothing.
constexpr int64_t kEnoughElements = 16;

/// A result, the exact one, and how far they are apart when it was computed in float32 and rounded once.
struct Rounded {
  const double *result, *exact, *once;
  const double* offset;  ///< what is added last; null: nothing
  double u;

  /// What factors apply to.
  double whole(int64_t i) const { return offset == nullptr ? exact[i] : exact[i] - offset[i]; }
  double error(int64_t i) const { return result[i] - exact[i]; }
  /// Whether the error is one rounding and `shared`, which others have, too.
  bool is_rounded(int64_t i, double shared) const {
    return !(std::abs(error(i) - shared) > once[i] + u * std::abs(shared));
  }
};

/// The median of numbers with weights.
double weighted_median(std::vector<std::pair<double, double>>& numbers) {
  std::ranges::sort(numbers);
  double half = 0, sum = 0;
  for (const auto& [x, weight] : numbers) half += weight / 2;
  for (const auto& [x, weight] : numbers)
    if ((sum += weight) >= half) return x;
  return 0;
}

/// What all elements of a block err together: a factor of the exact value before its offset, or an offset.
struct Shared {
  double factor = 0, offset = 0;
  double at(double y) const { return factor * y + offset; }
};

Shared shared_factor(const Rounded& r, int64_t first, int64_t last) {
  std::vector<std::pair<double, double>> factors;
  for (int64_t i = first; i < last; ++i)
    if (const double f = r.error(i) / r.whole(i); std::isfinite(f) && r.once[i] > 0)
      factors.emplace_back(f, std::abs(r.whole(i)) / r.once[i]);
  return {.factor = weighted_median(factors)};
}

Shared shared_offset(const Rounded& r, int64_t first, int64_t last) {
  std::vector<std::pair<double, double>> offsets;
  for (int64_t i = first; i < last; ++i)
    if (std::isfinite(r.error(i)) && r.once[i] > 0) offsets.emplace_back(r.error(i), 1 / r.once[i]);
  return {.offset = weighted_median(offsets)};
}

int64_t count_rounded(const Rounded& r, int64_t first, int64_t last, Shared shared = {}) {
  int64_t count = 0;
  for (int64_t i = first; i < last; ++i) count += r.is_rounded(i, shared.at(r.whole(i)));
  return count;
}

bool are_most(int64_t count, int64_t all) {
  return static_cast<double>(count) >= kMaxOf * static_cast<double>(all);
}

/// Roundings of sums differ from element to element. Where what is left is one rounding once a factor or an
/// offset is taken off that all elements share, or all of a block of trailing dimensions, the sums were made
/// in float32, and what they share is no rounding of theirs.
bool err_together(const Rounded& r, const Shape& shape) {
  const int64_t count = shape.numel();
  int64_t last_size = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = shape.numel(d, shape.size());
    if (size < kEnoughElements) break;
    if (size == last_size) continue;
    last_size = size;
    for (const auto shared : {shared_factor, shared_offset}) {
      int64_t within = 0;
      for (int64_t first = 0; first < count; first += size)
        within += count_rounded(r, first, first + size, shared(r, first, first + size));
      if (are_most(within, count)) return true;
    }
  }
  return false;
}

/// What is explained of a result that was computed in float32 (`once`: so, and rounded once).
Tensor held_to(const Tensor& once, const Tensor& most, const Tensor& reach) {
  const Tensor held = map_broadcast<double>(
      most, once, [](double e, double w) { return std::isfinite(e) ? std::min(e, kBeyondMost * w) : e; });
  if (!reach.defined() || reach.shape() != held.shape()) return held;
  // How far the inputs reach is no estimate.
  const Tensor surplus = map_elements<double>(reach, [](double r) { return (kBeyondMost - 1) * r; });
  const Tensor tight =
      map_broadcast<double>(once, surplus, [](double w, double s) { return kBeyondMost * w - s; });
  return map_broadcast<double>(held, tight,
                               [](double e, double t) { return std::isfinite(e) ? std::min(e, t) : e; });
}

/// What a result shows that is computed in float32, or not. `doubtful`: elements beyond `held`, of `telling`
/// where that is less than `most`.
ComputedIn shown_by(const Rounded& r, const Tensor& most, const Tensor& held, bool wider) {
  const double *e = most.data<double>(), *h = held.data<double>();
  int64_t telling = 0, doubtful = 0;
  for (int64_t i = 0; i < held.numel(); ++i) {
    telling += h[i] < e[i];
    doubtful += h[i] < e[i] && std::abs(r.error(i)) > h[i];
  }
  if (telling >= kEnoughElements) {
    if (wider) return ComputedIn::kWider;
    return doubtful > 0 ? ComputedIn::kBeyondWider : ComputedIn::kDeclared;
  }
  const bool is_small = held.numel() < kEnoughElements;
  return is_small && doubtful > 0 ? ComputedIn::kDoubtful : ComputedIn::kUnknown;
}

}  // namespace

void hold_to_arithmetic(const Tensor& result, const Standard& standard, DType dtype, Explained& explained) {
  const Tensor& exact = standard.lanes[0];
  const Tensor once =
      standard.error != nullptr
          ? explained_when_computed_wider(standard.lanes, *standard.error, dtype, standard.reach)
          : spread_when_computed_wider(standard.lanes, standard.moved, dtype);
  if (!once.defined() || exact.numel() == 0) return;
  const Rounded r{.result = result.data<double>(),
                  .exact = exact.data<double>(),
                  .once = once.data<double>(),
                  .offset = standard.offset.defined() ? standard.offset.data<double>() : nullptr,
                  .u = unit_roundoff(dtype)};
  const Tensor held = held_to(once, explained.most, standard.reach);
  const int64_t count = exact.numel();
  const bool enough = count >= kEnoughElements;
  const bool wider =
      enough && (are_most(count_rounded(r, 0, count), count) || err_together(r, exact.shape()));
  explained.shown = shown_by(r, explained.most, held, wider);
  explained.computed_wider = wider || (!enough && standard.computes_wider);
  (explained.computed_wider ? explained.most : explained.held) = held;
}

}  // namespace assay
