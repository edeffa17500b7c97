#include "debug/tensor_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "debug/places.h"
#include "tensor/convert.h"

namespace assay::debug {
namespace {

double largest_finite(const Tensor& t) {
  double largest = 0;
  for (const double x : t.span<double>())
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest;
}

/// The error of one element: 0 where both are the same infinity or NaN.
double error_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double error = std::abs(a - b);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

TensorDifference incomparable(std::string problem) {
  return {.differs = true,
          .problem = std::move(problem),
          .error = std::numeric_limits<double>::infinity(),
          .excess = std::numeric_limits<double>::infinity()};
}

double roundoff(const Tensor& t) { return is_float(t.dtype()) ? unit_roundoff(t.dtype()) : 0; }

}  // namespace

TensorDifference difference_of(const Tensor& first, const Tensor& second, const LayerTolerance& tolerance) {
  if (first.shape() != second.shape())
    return incomparable(fmt::format("shape {} and {}", first.shape().str(), second.shape().str()));
  if (!has_numbers(first) || !has_numbers(second)) {
    TensorDifference result{.elements = first.numel()};
    if (!first.identical(second)) result = incomparable("they are no numbers, and are not the same");
    return result;
  }
  const Tensor a = to_float64(first), b = to_float64(second);
  TensorDifference result{.scale = std::max(largest_finite(a), largest_finite(b)), .elements = a.numel()};
  const bool is_given = tolerance.atol || tolerance.rtol;
  const double atol = is_given ? tolerance.atol.value_or(0)
                               : std::sqrt(std::max(roundoff(first), roundoff(second))) / 2 * result.scale;
  const double rtol = is_given ? tolerance.rtol.value_or(0) : 0;
  const auto p = a.span<double>(), q = b.span<double>();
  for (size_t i = 0; i < p.size(); ++i) {
    const double error = error_of(p[i], q[i]);
    if (error == 0) continue;
    const double allowed = atol + (std::isfinite(q[i]) ? rtol * std::abs(q[i]) : 0);
    const double excess = allowed == 0 ? std::numeric_limits<double>::infinity() : error / allowed;
    result.error = std::max(result.error, error);
    result.beyond += excess > 1 ? 1 : 0;
    if (excess <= result.excess) continue;
    result.excess = excess;
    result.index = index_of(a.shape(), static_cast<int64_t>(i));
    result.first = p[i];
    result.second = q[i];
  }
  result.differs = result.excess > 1;
  return result;
}

}  // namespace assay::debug
