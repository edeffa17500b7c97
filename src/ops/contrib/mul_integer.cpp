// MulInteger: (A - A_zero_point) * (B - B_zero_point) in 32 bits, with NumPy broadcasting.
#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "tensor/convert.h"

namespace assay::op_ms_MulInteger {
namespace {

void infer(InferContext& c) {
  const Dims *a = c.input_dims(0), *b = c.input_dims(2);
  if (a == nullptr || b == nullptr) return c.set_output(0, DType::kInt32);
  c.set_output(0, DType::kInt32, broadcast_dims(*a, *b));
}

void eval(EvalContext& c) {
  const double za = zero_point_or_0(c, 1), zb = zero_point_or_0(c, 3);
  c.set_output(0, to_int32(map_broadcast<double>(to_float64(c.input(0)), to_float64(c.input(2)),
                                                 [=](double x, double y) { return (x - za) * (y - zb); })));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  A_zero_point: T ?
in  B: T
in  B_zero_point: T ?
out C: T1
type T: uint8 int8
type T1: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MulInteger",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ms_MulInteger
