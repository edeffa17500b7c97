#include "ops/nn/softmax_rows.h"

#include <cmath>
#include <limits>

#include "ops/infer_util.h"
#include "ops/numerics/rounding.h"

namespace assay {
namespace {

/// In version 1 the axis may equal the rank: the second of the two extents is then an empty product, and
/// every element its own slice. Version 11 rules it out.
size_t softmax_axis(const OpContext& c, int rank) {
  const int64_t axis = c.attr_int("axis");
  if (c.since() < 11 && axis == rank) return static_cast<size_t>(rank);
  return static_cast<size_t>(normalize_axis(axis, rank));
}

}  // namespace

void infer_slices(InferContext& c) {
  if (c.input_rank(0) > 0) softmax_axis(c, c.input_rank(0));
  infer_same_as_input(c);
}

Slices softmax_slices(const EvalContext& c) {
  const Shape& shape = c.shape(0);
  if (shape.empty()) return {1, 1, 1};
  const size_t axis = softmax_axis(c, shape.rank());
  const int64_t outer = shape.numel(0, axis);
  if (c.since() < 13) return {outer, shape.numel(axis, shape.size()), 1};
  return {outer, shape[axis], shape.numel(axis + 1, shape.size())};
}

double largest(const double* x, const Slices& s) {
  double found = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < s.count; ++i) {
    const double v = x[i * s.inner];
    if (v > found || std::isnan(v)) found = v;
  }
  return found;
}

Tensor log_softmax(const Tensor& x, const Slices& s) {
  Tensor y = Tensor::allocate(DType::kFloat64, x.shape());
  const double* px = x.data<double>();
  double* py = y.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s);
    double sum = 0;
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner) sum += std::exp(px[i] - shift);
    const double log_sum = std::log(sum);
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner) py[i] = px[i] - shift - log_sum;
  });
  return y;
}

namespace {

/// u (factor (|y| + |x - max|) + fixed).
Tensor log_softmax_errors(const Tensor& x, const Tensor& y, const Slices& s, double u, double factor,
                          double fixed) {
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *px = x.data<double>(), *py = y.data<double>();
  double* po = out.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s);
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner)
      po[i] = u * (factor * (std::fabs(py[i]) + std::fabs(px[i] - shift)) + fixed);
  });
  return out;
}

}  // namespace

Tensor log_softmax_bound(const Tensor& x, const Tensor& y, const Slices& s, double u) {
  return log_softmax_errors(x, y, s, u, 2, static_cast<double>(s.count) + kLibraryUlps);
}

Tensor log_softmax_expected(const Tensor& x, const Tensor& y, const Slices& s, double u) {
  return log_softmax_errors(x, y, s, u, 1,
                            expected_additions(static_cast<double>(s.count)) + kLibraryUlps / 2);
}

}  // namespace assay
