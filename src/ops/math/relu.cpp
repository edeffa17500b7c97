// Relu: y = max(x, 0); NaN stays NaN.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, map_elements<T>(c.input(0), [](T x) { return x < T(0) ? T(0) : x; }));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr consumed_inputs: ints
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  X: T
out Y: T
type T: @float)",
     infer_same_as_input, eval},
    {13, R"(
in  X: T
out Y: T
type T: @float_ir4)",
     infer_same_as_input, eval},
    {14, R"(
in  X: T
out Y: T
type T: @float_ir4 int32 int8 int16 int64)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef op_onnx_Relu = {.domain = "", .name = "Relu", .versions = kVersions};

}  // namespace assay
