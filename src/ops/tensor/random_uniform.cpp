// RandomUniform: numbers uniform in [low, high) in a tensor of the given shape.
#include "ops/op_list.h"
#include "ops/tensor/random_source.h"

namespace assay::op_onnx_RandomUniform {
namespace {

void infer(InferContext& c) { c.set_output(0, random_dtype(c, DType::kFloat32), to_dims(random_shape(c))); }
void eval(EvalContext& c) { c.set_output(0, draw_uniform(c, random_shape(c))); }

constexpr OpVersion kVersions[] = {
    {1, R"(
out output: T
attr shape: ints required
attr dtype: int = 1
attr seed: float
attr high: float = 1
attr low: float = 0
type T: @float)",
     infer, eval},
    {22, R"(
out output: T
attr shape: ints required
attr dtype: int = 1
attr seed: float
attr high: float = 1
attr low: float = 0
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "",
                             .name = "RandomUniform",
                             .versions = kVersions,
                             .numerics = {.kind = Numerics::Kind::kElementwise},
                             .random = true};

}  // namespace assay::op_onnx_RandomUniform
