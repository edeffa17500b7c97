// Softmax: exp(x - max) over the sum of these, in every slice.
#include <cmath>

#include "ops/nn/softmax_rows.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Softmax {
namespace {

void eval(EvalContext& c) {
  const Slices s = softmax_slices(c);
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s);
    double sum = 0;
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner) sum += py[i] = std::exp(px[i] - shift);
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner) py[i] /= sum;
  });
  c.set_output(0, std::move(y));
}

/// u y (additions + |x - max| + fixed): the difference, rounded, moves its exponential by u |x - max|; the
/// exponentials and the quotient have `fixed` roundings.
Tensor errors(const EvalContext& c, double u, const Tensor& y, const Slices& s, double additions,
              double fixed) {
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *px = c.input(0).data<double>(), *py = y.data<double>();
  double* po = out.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    const double shift = largest(px + at, s);
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner)
      po[i] = py[i] == 0 ? 0 : u * py[i] * (additions + std::fabs(px[i] - shift) + fixed);
  });
  return out;
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const Slices s = softmax_slices(c);
  return errors(c, u, y, s, static_cast<double>(s.count), kLibraryUlps);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  const Slices s = softmax_slices(c);
  return errors(c, u, y, s, expected_additions(static_cast<double>(s.count)), kLibraryUlps / 2);
}

constexpr OpVersion kVersions[] = {
    {1, "same as Hardmax-1", infer_slices, eval},
    {11, "same as Hardmax-1", infer_slices, eval},
    {13, "same as Hardmax-13", infer_slices, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Softmax",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .sign = SignOfResult::kPositive,
            .mixes_axis = true,
        },
};

}  // namespace assay::op_onnx_Softmax
