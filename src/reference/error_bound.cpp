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

/// The error of one correctly rounded operation: zero if the type represents the result, as for sums of small
/// integers (a counter that a loop compares, say).
struct OneRounding {
  explicit OneRounding(double unit) : u(unit) {
    const int bits = -std::ilogb(u);  // of the type's numbers
    rest = bits < 53 ? (uint64_t{1} << (53 - bits)) - 1 : ~uint64_t{0};
    has_numbers = bits < 53;
  }
  bool has(double x) const { return has_numbers && (std::bit_cast<uint64_t>(x) & rest) == 0; }
  double u;
  uint64_t rest;
  bool has_numbers;
};

/// A published bound of a function is the largest error of any library at any number. A quarter of it, but at
/// least one rounding, is expected: five of these still exceed the bound.
constexpr double kUsualShare = 0.25;

Tensor usual_of(Tensor bound, const Tensor& y, double u) {
  const auto usual = [u](double b, double v) {
    return std::max(kUsualShare * b, std::min(b, u * std::abs(v)));
  };
  if (bound.shape() != y.shape()) return map_broadcast<double>(bound, y, usual);
  auto* b = bound.mutable_data<double>();
  const double* v = y.data<double>();
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) b[i] = usual(b[i], v[i]);
  });
  return bound;
}

Tensor rounding_of(const Tensor& y, double u) {
  const OneRounding one(u);
  return map_elements<double>(y, [one](double x) { return one.has(x) ? 0.0 : std::abs(x) * one.u; });
}

/// The rounding error of float64 in a sum or difference (D. E. Knuth's TwoSum): a result that a narrow type
/// represents is not exact if a small addend was absorbed.
Tensor rounding_of_sum(EvalContext& c, const Tensor& y, double u) {
  const auto& inputs = c.inputs();
  if ((c.op().name != "Add" && c.op().name != "Sub") || inputs.size() != 2 ||
      broadcast(inputs[0].shape(), inputs[1].shape()) != y.shape())
    return rounding_of(y, u);
  const OneRounding one(u);
  const double sign = c.op().name == "Sub" ? -1 : 1;
  return map_broadcast<double>(inputs[0], inputs[1], [one, sign](double a, double other) {
    const double b = sign * other, sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
    const bool exact = one.has(sum) && (lost == 0 || !std::isfinite(sum));
    return exact ? 0.0 : std::abs(sum) * one.u;
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
  if (numerics.rough != nullptr) {
    EvalContext own(c.node(), c.op(), c.version(), inputs);
    if (numerics.rough(own, kernels::ApproxOf::kMagnitudes)) return std::move(own.outputs());
  }
  if (numerics.magnitude == nullptr) {
    for (Tensor& t : inputs)
      if (t.defined() && t.dtype() == DType::kFloat64)
        t = map_elements<double>(t, [](double x) { return std::abs(x); });
  }
  return computed(c, std::move(inputs),
                  numerics.magnitude != nullptr ? numerics.magnitude : c.version().eval);
}

/// Never more than the worst case. `drift` is y for most operators. `walk` times the sum of the terms' sizes
/// is the size of their partial sums' random walk.
Tensor statistical_sum(const Tensor& y, const Tensor& drift, const Tensor& magnitude, double terms,
                       double ulps, double walk, double u) {
  const double slope = u * std::sqrt(terms / 3), own = u * ulps, most = u * (terms + ulps), step = u * walk;
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *py = y.data<double>(), *pd = drift.data<double>(), *pm = magnitude.data<double>();
  auto* po = out.mutable_data<double>();
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const double m = std::abs(pm[i]);
      po[i] = std::min(own * std::abs(py[i]) + slope * std::abs(pd[i]) + step * m, most * m);
    }
  });
  return out;
}

/// For n terms p that are independent and of either sign the size is sqrt(n/6 sum p^2), of normal numbers
/// 0.51 of the sum of their magnitudes (docs/internals/numerics.md); with fewer large ones it is more, which
/// excuses check. The magnitude of normalizations and the like is not a sum of terms.
constexpr double kWalkOfTerms = 0.5;

/// True when the operator only forms sums of products of its inputs, and divides them by a count.
bool adds_products(EvalContext& c) {
  const SumsFact sums = c.op().facts.sums;
  return sums == SumsFact::kProducts || sums == SumsFact::kMean;
}

/// True when the operator adds up only integers.
bool adds_whole_numbers(EvalContext& c) {
  if (!adds_products(c)) return false;
  for (const Tensor& t : c.inputs()) {
    if (!t.defined() || t.dtype() != DType::kFloat64) continue;
    for (const double x : t.span<double>())
      if (x != std::trunc(x)) return false;  // infinities count as integers, NaN does not
  }
  return true;
}

/// Sums of representable integers are exact in every order. If y is not an integer, only the division of a
/// mean rounds.
Tensor whole_sum(const Tensor& y, const Tensor& bound, const Tensor& magnitude, double terms, double ulps,
                 double u) {
  const double most = 1 / u / terms;
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *py = y.data<double>(), *pb = bound.data<double>(), *pm = magnitude.data<double>();
  auto* po = out.mutable_data<double>();
  for (int64_t i = 0; i < y.numel(); ++i)
    po[i] = std::abs(pm[i]) >= most      ? pb[i]
            : py[i] == std::trunc(py[i]) ? 0
                                         : (ulps + 2) * u * std::abs(py[i]);
  return out;
}

/// Squares of float32 numbers may underflow. Roots of sums of `terms` squares then err by
/// much more than the numbers' own roundings.
bool roots_squares(EvalContext& c) { return c.op().facts.sums == SumsFact::kRootOfSquares; }

Tensor with_underflow(const Tensor& bound, const Tensor& y, double terms, double u) {
  if (u < 0x1p-24) return bound;
  const double lost = (terms + 1) * 0x1p-126;
  return map_broadcast<double>(
      bound, y, [=](double b, double x) { return b + std::min(std::sqrt(lost), lost / std::abs(x)); });
}

/// The parts of an accumulating operator's bounds, for all its outputs.
struct Accumulation {
  Accumulation(EvalContext& c, std::span<const Tensor> y, bool drifts) : drift(y.begin(), y.end()) {
    const Numerics& numerics = c.op().numerics;
    if (numerics.kind != Numerics::Kind::kAccumulating) return;
    magnitude = magnitudes(c);
    whole = adds_whole_numbers(c);
    roots = roots_squares(c);
    terms = static_cast<double>(numerics.terms(c));
    if (numerics.drift != nullptr && drifts) drift = computed(c, c.inputs(), numerics.drift);
  }
  std::vector<Tensor> magnitude, drift;
  double terms = 0;
  bool whole = false;  ///< all numbers are integers
  bool roots = false;  ///< of sums of squares
};

Tensor bound_of(EvalContext& c, const Accumulation& sums, size_t i, const Tensor& y, double u,
                BoundModel model) {
  const Numerics& numerics = c.op().numerics;
  const bool expected = model == BoundModel::kStatistical;
  switch (numerics.kind) {
    case Numerics::Kind::kExact:
      return {};
    case Numerics::Kind::kElementwise:
      if (expected && numerics.ulps <= 1) return rounding_of_sum(c, y, u);
      return scaled_magnitude(y, u * (expected ? std::max(kUsualShare * numerics.ulps, 1.0) : numerics.ulps));
    case Numerics::Kind::kAccumulating: {
      const Tensor bound =
          expected ? statistical_sum(y, sums.drift[i], sums.magnitude[i], sums.terms, numerics.ulps,
                                     numerics.magnitude == nullptr ? kWalkOfTerms : 1, u)
                   : scaled_magnitude(sums.magnitude[i], (sums.terms + numerics.ulps) * u);
      if (sums.roots) return with_underflow(bound, y, sums.terms, u);
      if (!sums.whole || sums.terms < 1) return bound;
      return whole_sum(y, bound, sums.magnitude[i], sums.terms, numerics.ulps, u);
    }
    case Numerics::Kind::kCustom: {
      if (expected && numerics.expected != nullptr) return numerics.expected(c, u, i, y);
      Tensor most = numerics.bound(c, u, i, y);
      return expected && most.defined() ? usual_of(std::move(most), y, u) : most;
    }
  }
  return {};
}

/// The largest number of float32, in which backends accumulate narrower types, too.
constexpr double kLargestSum = 0x1.fffffep127;

/// True when the operator adds up squares as an intermediate: if float32 cannot represent their sum, the
/// result becomes 0, infinite or NaN.
bool adds_squares(EvalContext& c) {
  return roots_squares(c) || c.op().facts.sums == SumsFact::kByRootOfSquares;
}
/// A square may be added many times, or with others that are not counted as terms.
constexpr double kRoomOfSquares = 64;

/// The operator's outputs with NaN in place of inputs whose squares overflow float32; nothing if there are
/// none.
std::vector<Tensor> with_large_as_nan(EvalContext& c, double terms) {
  const double most = std::sqrt(kLargestSum / (kRoomOfSquares * std::max(terms, 1.0)));
  const auto is_large = [most](double x) { return std::isfinite(x) && std::abs(x) > most; };
  std::vector<Tensor> inputs = c.inputs();
  bool any = false;
  for (Tensor& t : inputs) {
    if (!t.defined() || t.dtype() != DType::kFloat64 || std::ranges::none_of(t.span<double>(), is_large))
      continue;
    any = true;
    t = map_elements<double>(t, [=](double x) { return is_large(x) ? std::nan("") : x; });
  }
  return any ? computed(c, std::move(inputs), c.version().eval) : std::vector<Tensor>();
}

/// The results of orders of a sum with terms of either sign that overflow float32 on the way: terms of one
/// sign first give infinity of that sign, and partial sums of both infinities give NaN.
/// `magnitude`: sum of the terms' sizes.
unsigned infinities_of(double sum, double magnitude) {
  const bool plus = (magnitude + sum) / 2 > kLargestSum, minus = (magnitude - sum) / 2 > kLargestSum;
  return (plus ? kPlusInfinity : 0) | (minus ? kMinusInfinity : 0) | (plus && minus ? kNotANumber : 0);
}

/// For all outputs, the results with an intermediate sum
/// that overflows float32; nothing without overflow.
std::vector<Tensor> overflowing_sums(EvalContext& c, const Accumulation& sums, std::span<const Tensor> y) {
  std::vector<Tensor> where;
  if (adds_squares(c)) {
    const unsigned gives = roots_squares(c) ? kPlusInfinity : kNotANumber;
    where = with_large_as_nan(c, sums.terms);
    for (size_t i = 0; i < where.size() && i < y.size(); ++i)
      where[i] = map_broadcast<double>(where[i], y[i], [gives](double large, double x) -> double {
        return std::isnan(large) && !std::isnan(x) ? gives : 0;
      });
  } else if (adds_products(c) || c.op().name == "Gemm") {
    // A mean is the sum of all its terms, divided.
    const double factor = c.op().facts.sums == SumsFact::kMean ? std::max(sums.terms, 1.0) : 1;
    for (size_t i = 0; i < y.size() && i < sums.magnitude.size(); ++i) {
      const auto m = sums.magnitude[i].span<double>();
      if (std::ranges::none_of(m, [=](double x) { return std::abs(x) * factor > kLargestSum; })) return {};
      where.push_back(map_broadcast<double>(y[i], sums.magnitude[i], [=](double x, double size) -> double {
        return std::isfinite(x) ? infinities_of(x * factor, std::abs(size) * factor) : 0;
      }));
    }
  }
  return where;
}

/// Division by infinity gives zero: a normalization then returns its offset.
std::vector<Tensor> with_infinite_divisor(EvalContext& c) {
  std::vector<Tensor> inputs = c.inputs();
  for (Tensor& t : inputs) {
    if (!t.defined() || t.dtype() != DType::kFloat64) continue;
    t = map_elements<double>(t, [](double) { return 0.0; });
    break;
  }
  return computed(c, std::move(inputs), c.version().eval);
}

bool is_anywhere(const Tensor& where) {
  return std::ranges::any_of(where.span<double>(), [](double bits) { return bits != 0; });
}

bool is_rounded(const Tensor& y, double u) { return y.defined() && y.dtype() == DType::kFloat64 && u != 0; }

}  // namespace

std::vector<Tensor> error_bounds(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                 BoundModel model) {
  std::vector<Tensor> bounds(y.size());
  if (c.op().numerics.kind == Numerics::Kind::kExact) return bounds;
  const Accumulation sums(c, y, model == BoundModel::kStatistical);
  for (size_t i = 0; i < y.size(); ++i)
    if (is_rounded(y[i], u[i])) bounds[i] = bound_of(c, sums, i, y[i], u[i], model);
  return bounds;
}

std::vector<NodeError> node_errors(EvalContext& c, std::span<const Tensor> y, std::span<const double> u,
                                   Bounds asked) {
  std::vector<NodeError> errors(y.size());
  if (c.op().numerics.kind == Numerics::Kind::kExact) return errors;
  const double kSingle = unit_roundoff(DType::kFloat32);
  const Accumulation sums(c, y, true);
  const std::vector<Tensor> overflowing = overflowing_sums(c, sums, y);
  std::vector<Tensor> collapsed;
  for (size_t i = 0; i < y.size(); ++i) {
    if (!is_rounded(y[i], u[i])) continue;
    errors[i].operations = 1 + sums.terms;
    if (asked == Bounds::kBoth) errors[i].worst = bound_of(c, sums, i, y[i], u[i], BoundModel::kWorstCase);
    errors[i].expected = bound_of(c, sums, i, y[i], u[i], BoundModel::kStatistical);
    if (asked == Bounds::kBoth && u[i] > kSingle && c.op().numerics.kind == Numerics::Kind::kCustom)
      errors[i].in_float32 = bound_of(c, sums, i, y[i], kSingle, BoundModel::kStatistical);
    if (i >= overflowing.size() || u[i] < kSingle || !is_anywhere(overflowing[i])) continue;
    errors[i].overflow = overflowing[i];
    if (!adds_squares(c) || roots_squares(c)) continue;
    if (collapsed.empty()) collapsed = with_infinite_divisor(c);
    errors[i].collapsed = collapsed[i];
  }
  return errors;
}

}  // namespace assay
