// InstanceNormalization: every plane by its own mean and variance, then * scale + B of its channel.
#include "ops/infer_util.h"
#include "ops/nn/normalize.h"
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_InstanceNormalization {
namespace {

void infer(InferContext& c) {
  infer_same_as_input(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return;
  c.check(in->size() >= 2, "the input has {} dimensions; it needs batch and channels", in->size());
  for (size_t i = 1; i < 3; ++i) {
    const Dims* d = c.input_dims(i);
    c.check(d == nullptr || (d->size() == 1 && (!(*d)[0].is_known() || !(*in)[1].is_known() ||
                                                (*d)[0].value() == (*in)[1].value())),
            "input {} has shape {} for {} channels", i, d ? dims_str(*d) : "", (*in)[1].str());
  }
}

void compute(EvalContext& c, Normalized what) {
  const Shape& in = c.shape(0);
  c.check(in.size() >= 2, "the input has shape {}; it needs batch and channels", in.str());
  for (size_t i = 1; i < 3; ++i)
    c.check(c.shape(i) == Shape{in[1]}, "input {} has shape {} for {} channels", i, c.shape(i).str(), in[1]);
  const int64_t inner = in.numel(2, in.size());
  NormalizedRows rows = normalize_rows(c.input(0), inner, c.attr_float("epsilon"), what);
  scale_channels(rows.values, in[1], inner, c.input(1).data<double>(), c.input(2).data<double>(), what);
  c.set_output(0, std::move(rows.values));
}

void eval(EvalContext& c) { compute(c, Normalized::kValues); }
void magnitude(EvalContext& c) { compute(c, Normalized::kMagnitudes); }
void drift(EvalContext& c) { compute(c, Normalized::kDrifts); }
int64_t terms(EvalContext& c) { return c.shape(0).numel(2, c.shape(0).size()) + 10; }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  scale: T
in  B: T
out output: T
attr epsilon: float = 9.99999975e-06
attr consumed_inputs: ints
type T: @float)",
     infer, eval},
    {6, R"(
in  input: T
in  scale: T
in  B: T
out output: T
attr epsilon: float = 9.99999975e-06
type T: @float)",
     infer, eval},
    {22, R"(
in  input: T
in  scale: T
in  B: T
out output: T
attr epsilon: float = 9.99999975e-06
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "InstanceNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating,
                 .terms = terms,
                 .magnitude = magnitude,
                 .drift = drift},
    .facts =
        {
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_InstanceNormalization
