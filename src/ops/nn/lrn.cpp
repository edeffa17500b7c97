// LRN: y = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_LRN {
namespace {

void check_size(const OpContext& c, size_t rank) {
  c.check(rank >= 2, "the input has {} dimensions; it needs batch and channels", rank);
  const int64_t size = c.attr_int("size");
  c.check(size >= 1, "attribute 'size' is {}; it must be at least 1", size);
}

void infer(InferContext& c) {
  if (const Dims* in = c.input_dims(0)) check_size(c, in->size());
  infer_same_as_input(c);
}

/// The base of the power at every element.
Tensor bases(const EvalContext& c) {
  const Shape& shape = c.shape(0);
  check_size(c, shape.size());
  const int64_t channels = shape[1], inner = shape.numel(2, shape.size());
  const int64_t size = std::min(c.attr_int("size"), 2 * channels + 1);
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  const double scale = c.attr_float("alpha") / static_cast<double>(c.attr_int("size")),
               bias = c.attr_float("bias");
  Tensor out = Tensor::allocate(DType::kFloat64, shape);
  const double* px = c.input(0).data<double>();
  double* po = out.mutable_data<double>();
  parallel_for(shape[0] * channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t channel = row % channels;
      const int64_t from = std::max<int64_t>(0, channel - before) - channel;
      const int64_t to = std::min(channels - 1, channel + after) - channel;
      double* sums = po + row * inner;
      std::fill_n(sums, inner, 0.0);
      for (int64_t d = from; d <= to; ++d) {
        const double* x = px + (row + d) * inner;
        for (int64_t i = 0; i < inner; ++i) sums[i] += x[i] * x[i];
      }
      for (int64_t i = 0; i < inner; ++i) sums[i] = bias + scale * sums[i];
    }
  });
  return out;
}

void eval(EvalContext& c) {
  const double beta = c.attr_float("beta");
  const Tensor base = bases(c);
  c.set_output(
      0, map_broadcast<double>(c.input(0), base, [=](double x, double b) { return x / std::pow(b, beta); }));
}

/// The base errs by u ((size + 4) base + 2 R), where R sums the bases of the channels so far: that covers
/// implementations that move the sum of squares along the channels by adding and subtracting. Then |error| <=
/// |y| (beta * that / base + u (beta |log base| + 4)), for a power as exp(beta log base) and the quotient.
/// Sound for bias >= 0 and alpha >= 0.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const Shape& shape = c.shape(0);
  const double beta = std::fabs(c.attr_float("beta")), terms = static_cast<double>(c.attr_int("size")) + 4;
  const Tensor base = bases(c);
  Tensor out = Tensor::allocate(DType::kFloat64, shape);
  const int64_t channels = shape[1], inner = shape.numel(2, shape.size());
  const double *pb = base.data<double>(), *py = y.data<double>();
  double* po = out.mutable_data<double>();
  std::vector<double> running(static_cast<size_t>(inner));
  for (int64_t row = 0; row < shape[0] * channels; ++row) {
    if (row % channels == 0) std::fill(running.begin(), running.end(), 0.0);
    for (int64_t i = 0; i < inner; ++i) {
      const double b = pb[row * inner + i], so_far = running[static_cast<size_t>(i)] += b;
      const double relative = beta * (terms + 2 * so_far / b + std::fabs(std::log(b))) + 4;
      po[row * inner + i] = u * std::fabs(py[row * inner + i]) * relative;
    }
  }
  return out;
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr bias: float = 1
attr beta: float = 0.75
attr alpha: float = 9.99999975e-05
attr size: int required
type T: @float)",
     infer, eval},
    {13, R"(
in  X: T
out Y: T
attr bias: float = 1
attr beta: float = 0.75
attr alpha: float = 9.99999975e-05
attr size: int required
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LRN",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .sums = SumsFact::kByRootOfSquares,
            .extra_steps = neighbour_steps,
        },
};

}  // namespace assay::op_onnx_LRN
