#include "reference/error_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/eval_util.h"

namespace assay {
namespace {

Tensor scaled_magnitude(const Tensor& t, double factor) {
  return map_elements<double>(t, [factor](double x) { return std::abs(x) * factor; });
}

/// What one correctly rounded operation errs: nothing where the type has the number, as it has sums of small whole
/// numbers (a counter that a loop compares, say).
Tensor rounding_of(const Tensor& y, double u) {
  const int bits = -std::ilogb(u);  // of the type's numbers
  const uint64_t rest = bits < 53 ? (uint64_t{1} << (53 - bits)) - 1 : ~uint64_t{0};
  return map_elements<double>(y, [=](double x) {
    const bool is_there = bits < 53 && (std::bit_cast<uint64_t>(x) & rest) == 0;
    return is_there ? 0.0 : std::abs(x) * u;
  });
}

std::vector<Tensor> computed(EvalContext& c, std::vector<Tensor> inputs, void (*f)(EvalContext&)) {
  EvalContext own(c.node(), c.op(), c.version(), std::move(inputs));
  own.ideal = true;
  f(own);
  return std::move(own.outputs());
}

/// The operator applied to the magnitudes of its floating inputs.
std::vector<Tensor> magnitudes(EvalContext& c) {
  const Numerics& numerics = c.op().numerics;
  std::vector<Tensor> inputs = c.inputs();
  if (numerics.magnitude == nullptr) {
    for (Tensor& t : inputs)
      if (t.defined() && t.dtype() == DType::kFloat64)
        t = map_elements<double>(t, [](double x) { return std::abs(x); });
  }
  return computed(c, std::move(inputs),
                  numerics.magnitude != nullptr ? numerics.magnitude : c.version().eval);
}

/// Never more than the worst case. `drift` is y for most operators.
Tensor statistical_sum(const Tensor& y, const Tensor& drift, const Tensor& magnitude, double terms,
                       double ulps, double u) {
  const double slope = u * std::sqrt(terms / 3), own = u * ulps, most = u * (terms + ulps);
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *py = y.data<double>(), *pd = drift.data<double>(), *pm = magnitude.data<double>();
  auto* po = out.mutable_data<double>();
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const double m = std::abs(pm[i]);
      po[i] = std::min(own * std::abs(py[i]) + slope * std::abs(pd[i]) + u * m, most * m);
    }
  });
  return out;
}

}  // namespace

std::vector<Tensor> error_bounds(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                 BoundModel model) {
  const Numerics& numerics = c.op().numerics;
  std::vector<Tensor> bounds(y.size());
  if (numerics.kind == Numerics::Kind::kExact) return bounds;
  std::vector<Tensor> magnitude, drift(y.begin(), y.end());
  double terms = 0;
  if (numerics.kind == Numerics::Kind::kAccumulating) {
    magnitude = magnitudes(c);
    terms = static_cast<double>(numerics.terms(c));
    if (numerics.drift != nullptr && model == BoundModel::kStatistical)
      drift = computed(c, c.inputs(), numerics.drift);
  }
  for (size_t i = 0; i < y.size(); ++i) {
    if (!y[i].defined() || y[i].dtype() != DType::kFloat64 || u[i] == 0) continue;
    switch (numerics.kind) {
      case Numerics::Kind::kExact:
        break;
      case Numerics::Kind::kElementwise:
        bounds[i] = model == BoundModel::kStatistical && numerics.ulps <= 1
                        ? rounding_of(y[i], u[i])
                        : scaled_magnitude(y[i], numerics.ulps * u[i]);
        break;
      case Numerics::Kind::kAccumulating:
        bounds[i] = model == BoundModel::kWorstCase
                        ? scaled_magnitude(magnitude[i], (terms + numerics.ulps) * u[i])
                        : statistical_sum(y[i], drift[i], magnitude[i], terms, numerics.ulps, u[i]);
        break;
      case Numerics::Kind::kCustom:
        bounds[i] = model == BoundModel::kStatistical && numerics.expected != nullptr
                        ? numerics.expected(c, u[i], i, y[i])
                        : numerics.bound(c, u[i], i, y[i]);
        break;
    }
  }
  return bounds;
}

}  // namespace assay
