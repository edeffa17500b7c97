// Hardmax: 1 at the first largest element of every slice, 0 elsewhere.
#include <cmath>

#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Hardmax {
namespace {

void eval(EvalContext& c) {
  const Slices s = softmax_slices(c);
  Tensor y = Tensor::zeros(DType::kFloat64, c.shape(0));
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  for_each_slice(s, [&](int64_t at) {
    int64_t best = at;
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner)
      if (px[i] > px[best]) best = i;
    if (s.count > 0) py[best] = 1;
  });
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @float)",
     infer_slices, eval},
    {11, "same as Hardmax-1", infer_slices, eval},
    {13, R"(
in  input: T
out output: T
attr axis: int = -1
type T: @float_ir4)",
     infer_slices, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Hardmax",
    .versions = kVersions,
};

}  // namespace assay::op_onnx_Hardmax
