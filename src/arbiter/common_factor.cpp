#include "arbiter/common_factor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

/// Of fewer elements a median says little.
constexpr int64_t kEnough = 64;
/// One rounding of a factor that all share; of a row two.
constexpr double kOnce = 1.25, kTwice = 2;
/// Standard deviations of a median of a million that are no surprise.
constexpr double kSure = 6;
/// A normal distribution's deviation in units of its median distance from the median, and that of the median
/// of n in units of the deviation over the root of n.
constexpr double kDeviation = 1.4826, kOfMedian = 1.2533;

/// The distances of a block's elements from the exact ones, in proportion to what is there before the offset.
struct Relative {
  std::vector<double> errors;
  int64_t seen = 0;  ///< elements, of which `errors` has those that are alike once
  double median = 0, spread = 0;

  /// Numbers below the normal ones lose more.
  Relative(const double* r, const double* y, const double* offset, int64_t count, double normal) {
    for (int64_t i = 0; i < count; ++i) {
      const double whole = offset == nullptr ? y[i] : y[i] - offset[i];
      if (const double e = (r[i] - y[i]) / whole; std::abs(whole) >= normal && std::isfinite(e))
        errors.push_back(e);
    }
    seen = static_cast<int64_t>(errors.size());
    if (errors.empty()) return;
    // Elements that are alike round alike: together they say no more than one of them.
    std::ranges::sort(errors);
    errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
    median = errors[errors.size() / 2];
    std::vector<double> distances;
    for (const double e : errors) distances.push_back(std::abs(e - median));
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::ranges::nth_element(distances, middle);
    spread = *middle;
  }
};

/// How far the block's median may be off by.
CommonFactor factor_of(const double* r, std::span<const Tensor> lanes, const Tensor& offset, int64_t first,
                       int64_t count, bool whole, DType dtype) {
  const double u = unit_roundoff(dtype), normal = float_range(dtype).normal;
  const double* y = lanes[0].data<double>() + first;
  const double* o = offset.defined() ? offset.data<double>() + first : nullptr;
  const Relative own(r + first, y, o, count, normal);
  const auto n = static_cast<int64_t>(own.errors.size());
  CommonFactor found{.factor = std::abs(own.median), .explained = HUGE_VAL, .first = first, .count = count};
  if (n < kEnough || 2 * own.seen < count || found.factor <= kOnce * u) return found;
  double inputs = 0;
  for (const Tensor& lane : lanes.subspan(1))
    inputs = std::max(inputs, std::abs(Relative(lane.data<double>() + first, y, o, count, normal).median));
  constexpr double kInputs = 4;
  found.explained = (whole ? kOnce : kTwice) * u + kInputs * inputs +
                    kSure * kOfMedian * kDeviation * own.spread / std::sqrt(static_cast<double>(n));
  return found;
}

}  // namespace

std::optional<CommonFactor> unexplained_factor(const Tensor& result, std::span<const Tensor> lanes,
                                               const Tensor& offset, DType dtype) {
  const Shape& shape = result.shape();
  const int64_t all = shape.numel();
  const bool comparable = std::ranges::all_of(
      lanes, [&](const Tensor& t) { return t.dtype() == DType::kFloat64 && t.shape() == shape; });
  if (!comparable) return {};
  std::optional<CommonFactor> worst;
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = shape.numel(d, shape.size());
    if (size < kEnough) break;
    if (size == last) continue;
    last = size;
    for (int64_t first = 0; first < all; first += size) {
      const CommonFactor f = factor_of(result.data<double>(), lanes, offset, first, size, size == all, dtype);
      if (f.ratio() > 1 && (!worst || f.ratio() > worst->ratio())) worst = f;
    }
  }
  return worst;
}

}  // namespace assay
