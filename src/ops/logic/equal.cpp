// Equal: y = (a == b); NaN equals nothing.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/legacy_broadcast.h"
#include "ops/math/extent_math.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Equal {
namespace {

void infer(InferContext& c) {
  infer_broadcast_bool(c);
  propagate(c, equal_elements);
}

template <typename T>
void compare(EvalContext& c) {
  c.set_output(0,
               map_broadcast<T, bool>(c.input(0), c.input(1), [](const T& a, const T& b) { return a == b; }));
}

void eval(EvalContext& c) {
  switch (c.input(0).dtype()) {
    case DType::kBool:
      return compare<bool>(c);
    case DType::kString:
      return compare<std::string>(c);
    default:
      visit_numeric(c.input(0).dtype(), [&]<typename T>() { compare<T>(c); });
  }
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T1
attr axis: int
attr broadcast: int = 0
type T: bool int32 int64
type T1: bool)",
     infer_legacy_broadcast_bool, eval_legacy_broadcast<eval>},
    {7, R"(
in  A: T
in  B: T
out C: T1
type T: bool int32 int64
type T1: bool)",
     infer, eval},
    {11, R"(
in  A: T
in  B: T
out C: T1
type T: @numeric bool
type T1: bool)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
out C: T1
type T: @numeric_ir4 bool
type T1: bool)",
     infer, eval},
    {19, R"(
in  A: T
in  B: T
out C: T1
type T: @numeric_ir4 bool string
type T1: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Equal",
    .versions = kVersions,
    .facts =
        {
            .elementwise = 2,
            .pointwise = {.op = kernels::PointwiseOp::kEqual},
            .commutative = true,
            .commutes_with_cast = true,
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
        },
};

}  // namespace assay::op_onnx_Equal
