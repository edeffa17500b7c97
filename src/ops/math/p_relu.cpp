// PRelu: y = slope * x for x < 0, x otherwise; the slope is broadcast to the shape of x. Before opset 7 it is
// one number, or one for each channel.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_PRelu {
namespace {

void infer(InferContext& c) {
  const Dims *x = c.input_dims(0), *slope = c.input_dims(1);
  if (x != nullptr && slope != nullptr) {
    bool fits = slope->size() <= x->size();
    for (size_t i = 0; i < slope->size() && fits; ++i) {
      const Dim &s = (*slope)[i], &d = (*x)[x->size() - slope->size() + i];
      fits = !s.is_known() || s.value() == 1 || !d.is_known() || s.value() == d.value();
    }
    c.check(fits, "a slope of shape {} cannot be broadcast to {}", dims_str(*slope), dims_str(*x));
  }
  infer_same_as_input(c);
}

void eval(EvalContext& c) {
  c.check(broadcast(c.shape(0), c.shape(1)) == c.shape(0), "a slope of shape {} cannot be broadcast to {}",
          c.shape(1).str(), c.shape(0).str());
  visit_dtype<double, int64_t, int32_t, uint64_t, uint32_t>(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_broadcast<T>(c.input(0), c.input(1),
                                     [](T x, T slope) { return x < T(0) ? wrap_mul(slope, x) : x; }));
  });
}

/// A slope for each channel under the rank of x.
Shape channel_slope(const EvalContext& c) {
  const Shape &x = c.shape(0), &slope = c.shape(1);
  if (slope.numel() == 1) return {};
  const size_t channel = x.size() > 1 ? 1 : 0;
  c.check(slope.size() == 1 && !x.empty() && slope[0] == x[channel],
          "a slope of shape {} has no number for each channel of {}", slope.str(), x.str());
  Shape aligned(std::vector<int64_t>(x.size() - channel, 1));
  aligned[0] = slope[0];
  return aligned;
}

void infer_by_channel(InferContext& c) {
  const Dims *x = c.input_dims(0), *slope = c.input_dims(1);
  if (x != nullptr && x->size() > 1 && slope != nullptr && slope->size() == 1) {
    const Dim &s = (*slope)[0], &channels = (*x)[1];
    c.check(!s.is_known() || s.value() == 1 || !channels.is_known() || s.value() == channels.value(),
            "a slope of shape {} has no number for each channel of {}", dims_str(*slope), dims_str(*x));
  }
  infer_same_as_input(c);
}

void eval_by_channel(EvalContext& c) {
  EvalContext aligned(c.node(), c.op(), c.version(), {c.input(0), c.input(1).reshaped(channel_slope(c))});
  eval(aligned);
  c.set_output(0, std::move(aligned.outputs()[0]));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  slope: T
out Y: T
attr consumed_inputs: ints
type T: @float)",
     infer_by_channel, eval_by_channel},
    {6, R"(
in  X: T
in  slope: T
out Y: T
type T: @float)",
     infer_by_channel, eval_by_channel},
    {7, "same as PRelu-6", infer, eval},
    {9, R"(
in  X: T
in  slope: T
out Y: T
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {16, R"(
in  X: T
in  slope: T
out Y: T
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "PRelu",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kPRelu},
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_PRelu
