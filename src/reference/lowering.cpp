#include "reference/lowering.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "graph/read.h"
#include "ops/eval_util.h"

namespace assay {
namespace {

/// Operators that add up products of inputs 0 and 1.
bool multiplies(const Node& n) {
  return is_op(n, "Conv") || is_op(n, "ConvTranspose") || is_op(n, "Gemm") || is_op(n, "MatMul");
}

double square(double x) { return x * x; }

/// The sums of the squares of the products of some factors: those numbers' variances, if the errors of the
/// factors are given instead of one of them.
Tensor sum_of_squares(const EvalContext& c, const Tensor& a, const Tensor& b) {
  std::vector<Tensor> inputs{map_elements<double>(a, square), map_elements<double>(b, square)};
  for (size_t i = 2; i < c.inputs().size(); ++i)  // a bias is exact
    inputs.push_back(c.input(i).defined() ? Tensor::zeros(DType::kFloat64, c.shape(i)) : Tensor());
  EvalContext squares(c.node(), c.op(), c.version(), std::move(inputs));
  squares.ideal = true;
  c.version().eval(squares);
  const double alpha = is_op(c.node(), "Gemm") ? c.attr_float("alpha") : 1;
  const Tensor& y = squares.outputs()[0];
  return alpha == 1 ? y : map_elements<double>(y, [=](double v) { return std::abs(alpha) * v; });
}

/// Half a step at each element, and the clipped part beyond the last level, if that is small in total.
Tensor errors_of_step(const Tensor& x, const ByteStep& step) {
  // Limits are found for symmetric steps.
  const double symmetric = step.limit / kInt8Levels, most = step.limit + symmetric / 2;
  double cut = 0;
  for (const double v : x.span<double>())
    cut += std::isfinite(v) ? square(std::max(0.0, std::abs(v) - most)) : 0;
  const bool is_little = cut <= kCutOff * static_cast<double>(x.numel()) * square(symmetric) / 12;
  return map_elements<double>(x, [=](double v) {
    return std::max(step.size / 2, is_little && std::isfinite(v) ? std::abs(v) - step.limit : 0.0);
  });
}

double largest(const Tensor& x) {
  double most = 0;
  for (const double v : x.span<double>())
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  return most;
}

/// A step, or the one that represents the largest number.
ByteStep step_of(const Tensor& x, const ByteStep& step) {
  return std::isnan(step.size) ? ByteStep(largest(x) / kInt8Levels) : step;
}

/// Half a step of 8 bits of the weights, of one size for each channel of the result.
Tensor errors_of_weights(const Node& n, const Tensor& w) {
  if (w.rank() < 2) return map_elements<double>(w, [s = largest(w)](double) { return s / kInt8Levels / 2; });
  size_t axis = is_op(n, "Conv") ? 0 : w.shape().size() - 1;
  if (is_op(n, "ConvTranspose")) axis = 1;
  if (is_op(n, "Gemm") && int_attribute(n, "transB", 0) != 0) axis = 0;
  const int64_t count = w.dim(axis), inner = w.shape().numel(axis + 1, w.shape().size());
  std::vector<double> most(static_cast<size_t>(count), 0.0);
  Tensor errors = Tensor::allocate(DType::kFloat64, w.shape());
  const double* p = w.data<double>();
  const auto channel = [&](int64_t i) { return static_cast<size_t>(i / inner % count); };
  for (int64_t i = 0; i < w.numel(); ++i)
    if (std::isfinite(p[i])) most[channel(i)] = std::max(most[channel(i)], std::abs(p[i]));
  for (int64_t i = 0; i < w.numel(); ++i)
    errors.mutable_data<double>()[i] = most[channel(i)] / kInt8Levels / 2;
  return errors;
}

/// The expected error of a product by rounding its factors, as the half-width of a uniform distribution, like
/// each factor's error.
Tensor error_of_product(const EvalContext& c, const Lowering& lowering) {
  const Tensor &x = c.input(0), &w = c.input(1);
  const auto eighth = lowering.int8.find(&c.node());
  Tensor squares;
  if (lowering.u > 0)
    squares = map_elements<double>(sum_of_squares(c, x, w),
                                   [u = lowering.u](double s) { return 2 * square(u) * s; });
  if (eighth != lowering.int8.end()) {
    const Tensor inputs = sum_of_squares(c, errors_of_step(x, step_of(x, eighth->second)), w),
                 weights = sum_of_squares(c, x, errors_of_weights(c.node(), w));
    const auto add = [](double a, double b) { return a + b; };
    Tensor both = map_broadcast<double>(inputs, weights, add);
    squares = squares.defined() ? map_broadcast<double>(squares, both, add) : std::move(both);
  }
  return squares.defined()
             ? map_elements<double>(squares, [](double s) { return std::sqrt(std::max(s, 0.0)); })
             : Tensor();
}

/// A number as a multiple of its step, as float32 divides them.
double in_steps(double x, float step) { return static_cast<double>(static_cast<float>(x) / step); }

/// The numbers, rounded to what QuantizeLinear and DequantizeLinear make of them.
Tensor at_levels(const Tensor& x, const ByteLevels& levels) {
  const double least = -levels.zero_point, most = least + UINT8_MAX;
  return map_elements<double>(x, [=](double v) {
    if (!std::isfinite(v)) return v;
    return std::clamp(std::nearbyint(in_steps(v, levels.scale)), least, most) * levels.scale;
  });
}

/// A step where a number is next to the middle between two multiples of it, so that either may be taken; 0
/// elsewhere.
Tensor undecided_levels(const Tensor& x, const ByteLevels& levels) {
  constexpr double kUnits = 16 * 0x1p-24;
  const double least = -levels.zero_point - 1, most = least + UINT8_MAX + 2;
  return map_elements<double>(x, [=](double v) {
    const double steps = in_steps(v, levels.scale), size = std::abs(steps), beyond = size - std::floor(size);
    const bool is_within = steps > least && steps < most;
    return is_within && std::abs(beyond - 0.5) <= kUnits * size ? static_cast<double>(levels.scale) : 0.0;
  });
}

/// Weights, rounded as quantize() does it: by one step for each channel of the result.
Tensor weights_at_levels(const Node& n, const Tensor& w) {
  const Tensor halves = errors_of_weights(n, w);
  return map_broadcast<double>(w, halves, [](double v, double half) {
    const auto step = std::max(static_cast<float>(2 * half * kInt8Levels) / static_cast<float>(kInt8Levels),
                               std::numeric_limits<float>::min());
    return std::clamp(std::nearbyint(in_steps(v, step)), -kInt8Levels, kInt8Levels) * step;
  });
}

/// The product of other factors; without what is added to it where `bare`.
Tensor product_of(const EvalContext& c, const Tensor& a, const Tensor& b, bool bare) {
  std::vector<Tensor> inputs{a, b};
  for (size_t i = 2; i < c.inputs().size(); ++i)
    inputs.push_back(bare && c.input(i).defined() ? Tensor::zeros(DType::kFloat64, c.shape(i)) : c.input(i));
  EvalContext other(c.node(), c.op(), c.version(), std::move(inputs));
  other.ideal = true;
  c.version().eval(other);
  return other.outputs()[0];
}

/// Of a product whose quantized values are known; `error` is still what float32 makes of it.
void set_levels(const EvalContext& c, const Lowering& lowering, const Tensor& y, NodeError& error) {
  /// Algorithms other than plain sums, such as Winograd's, err by several times more.
  constexpr double kAnyAlgorithm = 80;
  const auto known = lowering.levels.find(&c.node());
  if (known == lowering.levels.end() || !error.expected.defined()) return;
  const Tensor &x = c.input(0), &w = c.input(1);
  const double u = unit_roundoff(DType::kFloat32);
  error.by_levels = product_of(c, at_levels(x, known->second), weights_at_levels(c.node(), w), false);
  Tensor near = map_broadcast<double>(error.expected, y, [=](double e, double v) {
    return kAnyAlgorithm * (e + u * std::abs(v)) + std::numeric_limits<float>::min();
  });
  const Tensor undecided = undecided_levels(x, known->second);
  if (std::ranges::any_of(undecided.span<double>(), [](double v) { return v > 0; })) {
    const Tensor sizes = map_elements<double>(w, [](double v) { return std::abs(v); });
    near = map_broadcast<double>(near, product_of(c, undecided, sizes, true),
                                 [](double a, double b) { return a + 1.01 * std::abs(b); });
  }
  if (const auto kept = lowering.kept.find(&c.node()); kept != lowering.kept.end())
    near = map_broadcast<double>(near, errors_of_step(y, step_of(y, kept->second)),
                                 [](double a, double b) { return a + b; });
  error.near_levels = std::move(near);
}

bool is_wide(const Tensor& t) { return t.defined() && t.dtype() == DType::kFloat64; }

void add(const Tensor& more, double times, Tensor& error, const Shape& shape) {
  if (!error.defined()) error = Tensor::zeros(DType::kFloat64, shape);
  error = map_broadcast<double>(error, more,
                                [=](double e, double m) { return e + (std::isfinite(m) ? times * m : 0); });
}

}  // namespace

void add_lowered_errors(EvalContext& c, const Lowering& lowering, std::span<const Tensor> y,
                        std::vector<NodeError>& errors) {
  /// Values beyond nine standard deviations are negligible.
  constexpr double kMost = 6;
  if (errors.empty() || c.op().numerics.kind == Numerics::Kind::kExact) return;
  const auto add_both = [&](const Tensor& more, size_t i) {
    if (errors[i].worst.defined()) add(more, kMost, errors[i].worst, y[i].shape());
    add(more, 1, errors[i].expected, y[i].shape());
  };
  const bool is_product = multiplies(c.node()) && is_wide(c.input(0)) && is_wide(c.input(1)) && is_wide(y[0]);
  if (is_product) set_levels(c, lowering, y[0], errors[0]);
  if (is_product)
    if (const Tensor own = error_of_product(c, lowering); own.defined()) add_both(own, 0);
  if (const auto kept = lowering.kept.find(&c.node());
      kept != lowering.kept.end() && is_wide(y[0]) && errors[0].expected.defined())
    add_both(errors_of_step(y[0], step_of(y[0], kept->second)), 0);
  for (size_t i = 0; lowering.u > 0 && i < errors.size(); ++i)
    if (is_wide(y[i]) && errors[i].expected.defined())
      add_both(map_elements<double>(y[i], [&](double v) { return lowering.u * std::abs(v); }), i);
}

}  // namespace assay
