#include "reference/lowering.h"

#include <algorithm>
#include <cmath>
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
  if (multiplies(c.node()) && is_wide(c.input(0)) && is_wide(c.input(1)) && is_wide(y[0]))
    if (const Tensor own = error_of_product(c, lowering); own.defined()) add_both(own, 0);
  if (const auto kept = lowering.kept.find(&c.node());
      kept != lowering.kept.end() && is_wide(y[0]) && errors[0].expected.defined())
    add_both(errors_of_step(y[0], step_of(y[0], kept->second)), 0);
  for (size_t i = 0; lowering.u > 0 && i < errors.size(); ++i)
    if (is_wide(y[i]) && errors[i].expected.defined())
      add_both(map_elements<double>(y[i], [&](double v) { return lowering.u * std::abs(v); }), i);
}

}  // namespace assay
