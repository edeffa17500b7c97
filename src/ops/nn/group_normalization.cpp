// GroupNormalization: every group of channels of an image by its own mean and variance, then * scale + bias:
// one of each per channel, in opset 18 (deprecated) per group.
#include "ops/infer_util.h"
#include "ops/nn/normalize.h"
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_GroupNormalization {
namespace {

int64_t read_groups(const OpContext& c, const Dim& channels) {
  const int64_t groups = c.attr_int("num_groups");
  c.check(groups >= 1, "attribute 'num_groups' is {}; it must be at least 1", groups);
  c.check(!channels.is_known() || channels.value() % groups == 0, "{} groups do not divide {} channels",
          groups, channels.str());
  return groups;
}

void infer(InferContext& c) {
  infer_same_as_input(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return;
  c.check(in->size() >= 2, "the input has {} dimensions; it needs batch and channels", in->size());
  read_groups(c, (*in)[1]);
}

void compute(EvalContext& c, Normalized what) {
  const Shape& in = c.shape(0);
  c.check(in.size() >= 2, "the input has shape {}; it needs batch and channels", in.str());
  const int64_t groups = read_groups(c, Dim(in[1])), inner = in.numel(2, in.size());
  const int64_t scales = c.since() < 21 ? groups : in[1];
  for (size_t i = 1; i < 3; ++i)
    c.check(c.shape(i) == Shape{scales}, "input {} has shape {} where {} elements are needed", i,
            c.shape(i).str(), scales);
  NormalizedRows rows = normalize_rows(c.input(0), in[1] / groups * inner, c.attr_float("epsilon"), what);
  scale_channels(rows.values, scales, in[1] / scales * inner, c.input(1).data<double>(),
                 c.input(2).data<double>(), what);
  c.set_output(0, std::move(rows.values));
}

void eval(EvalContext& c) { compute(c, Normalized::kValues); }
void magnitude(EvalContext& c) { compute(c, Normalized::kMagnitudes); }
void drift(EvalContext& c) { compute(c, Normalized::kDrifts); }
int64_t terms(EvalContext& c) {
  return c.shape(0).numel(1, c.shape(0).size()) / read_groups(c, Dim(c.shape(0)[1])) + 10;
}

constexpr OpVersion kVersions[] = {
    {18, R"(
in  X: T
in  scale: T
in  bias: T
out Y: T
attr num_groups: int required
attr epsilon: float = 9.99999975e-06
type T: @float_ir4)",
     infer, eval},
    {21, R"(
in  X: T
in  scale: T
in  bias: T
out Y: T
attr stash_type: int = 1
attr num_groups: int required
attr epsilon: float = 9.99999975e-06
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GroupNormalization",
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

}  // namespace assay::op_onnx_GroupNormalization
