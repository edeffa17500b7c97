// Hardmax: 1 at the first largest element of every slice, 0 elsewhere.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Hardmax {
namespace {

template <typename T>
void mark_largest(EvalContext& c) {
  const Slices s = softmax_slices(c);
  Tensor y = Tensor::zeros(dtype_of<T>(), c.shape(0));
  const T* px = c.input(0).data<T>();
  T* py = y.mutable_data<T>();
  for_each_slice(s, [&](int64_t at) {
    int64_t best = at;
    for (int64_t i = at; i < at + s.count * s.inner; i += s.inner)
      if (px[i] > px[best]) best = i;
    if (s.count > 0) py[best] = 1;
  });
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) {
  visit_dtype<float, double>(c.input(0).dtype(), [&]<typename T>() { mark_largest<T>(c); });
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
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .mixes_axis = true,
            .compares = {{{.reach = ComparisonFact::Reach::kAxis}}},
        },
};

}  // namespace assay::op_onnx_Hardmax
