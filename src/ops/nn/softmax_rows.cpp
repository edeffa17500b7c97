#include "ops/nn/softmax_rows.h"

#include <cmath>
#include <limits>

#include "ops/infer_util.h"

namespace assay {
namespace {

/// Before opset 13 the axis may equal the rank: then every element is a slice of its own.
size_t softmax_axis(const OpContext& c, int rank) {
  const int64_t axis = c.attr_int("axis");
  if (c.since() < 13 && axis == rank) return static_cast<size_t>(rank);
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

double sum_of_exp(const double* x, const Slices& s, double shift) {
  double sum = 0;
  for (int64_t i = 0; i < s.count; ++i) sum += std::exp(x[i * s.inner] - shift);
  return sum;
}

}  // namespace assay
