// Range: start, start + delta, ... up to but not including limit; delta is 1 when it is left out.
#include <cmath>

#include "ops/contrib/standard.h"
#include "ops/op_list.h"
#include "ops/op_set.h"
#include "tensor/convert.h"

namespace assay::op_ms_Range {
namespace {

bool has_delta(const OpContext& c) { return c.input_count() > 2 && c.has_input(2); }

Tensor one(DType type) { return convert(Tensor::scalar<int64_t>(1), type); }

/// Shows a delta of 1.
class UnitDelta final : public ForwardingContext {
 public:
  UnitDelta(InferContext& c, DType type)
      : ForwardingContext(c, op_onnx_Range::def, *version_for(op_onnx_Range::def, 11)),
        delta_(one(type)),
        type_(Type::tensor(type, Shape{})),
        extents_{Dim(1)} {}
  const Type& input_type(size_t i) const override {
    return i == 2 ? type_ : ForwardingContext::input_type(i);
  }
  const Tensor* input_value(size_t i) const override {
    return i == 2 ? &delta_ : ForwardingContext::input_value(i);
  }
  const Dims* input_extents(size_t i) const override {
    return i == 2 ? &extents_ : ForwardingContext::input_extents(i);
  }

 private:
  Tensor delta_;
  Type type_;
  Dims extents_;
};

void infer(InferContext& c) {
  if (has_delta(c)) return infer_as(c, op_onnx_Range::def, 11);
  if (c.input_dtype(0) == DType::kUndefined) return c.set_output(0, DType::kUndefined, {Dim()});
  UnitDelta with_delta(c, c.input_dtype(0));
  with_delta.version().infer(with_delta);
}

std::vector<Tensor> inputs(const EvalContext& c) {
  return {c.input(0), c.input(1), has_delta(c) ? c.input(2) : one(c.input(0).dtype())};
}

void eval(EvalContext& c) { c.set_output(0, evaluate_as(c, op_onnx_Range::def, 11, inputs(c))[0]); }

/// That of the standard, and for a kernel that adds delta again and again the roundings of all sums before.
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  EvalContext as(c.node(), op_onnx_Range::def, *version_for(op_onnx_Range::def, 11), inputs(c));
  Tensor out = op_onnx_Range::def.numerics.bound(as, u, i, y);
  double* to = out.mutable_data<double>();
  double sums = 0;
  for (int64_t k = 0; k < y.numel(); ++k) {
    sums += u * std::fabs(y.data<double>()[k]);
    to[k] += sums;
  }
  return out;
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  start: T
in  limit: T
in  delta: T ?
out Y: T
type T: float double int16 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Range",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1},
                      {.kind = InputUse::Kind::kCount, .input = 2}}},
            .may_grow = true,
        },
};

}  // namespace assay::op_ms_Range
