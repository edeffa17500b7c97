// LogSoftmax: x - max - log(sum of exp(x - max)), in every slice.
#include <cmath>

#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void eval(EvalContext& c) {
  const Slices s = softmax_slices(c);
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s), log_sum = std::log(sum_of_exp(px + at, s, shift));
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner) py[i] = px[i] - shift - log_sum;
  });
  c.set_output(0, std::move(y));
}

/// |error| <= u (2 |y| + 2 |x - max| + n + 8): the sum's relative error, n + 8 roundings and those of its
/// differences, weighted by the terms, is the logarithm's absolute one; the rest are the two differences.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const Slices s = softmax_slices(c);
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *px = c.input(0).data<double>(), *py = y.data<double>();
  double* po = out.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s);
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner)
      po[i] = u * (2 * std::fabs(py[i]) + 2 * std::fabs(px[i] - shift) + static_cast<double>(s.count) + 8);
  });
  return out;
}

constexpr std::string_view kSchema1 = R"(
in  input: T
out output: T
attr axis: int = 1
type T: @float)";

constexpr OpVersion kVersions[] = {
    {1, kSchema1, infer_slices, eval},
    {11, kSchema1, infer_slices, eval},
    {13, R"(
in  input: T
out output: T
attr axis: int = -1
type T: @float_ir4)",
     infer_slices, eval},
};

}  // namespace

constinit const OpDef op_onnx_LogSoftmax = {
    .domain = "",
    .name = "LogSoftmax",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay
