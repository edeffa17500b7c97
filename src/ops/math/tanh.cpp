// Tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/rounding.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void eval(EvalContext& c) {
  c.set_output(0, map_elements<double>(c.input(0), [](double x) { return std::tanh(x); }));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr consumed_inputs: ints
type T: @float)",
     infer_same_as_input, eval},
    {6, R"(
in  input: T
out output: T
type T: @float)",
     infer_same_as_input, eval},
    {13, R"(
in  input: T
out output: T
type T: @float_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef op_onnx_Tanh = {
    .domain = "",
    .name = "Tanh",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kInverseUlps},
};

}  // namespace assay
