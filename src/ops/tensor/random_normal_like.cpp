// RandomNormalLike: normally distributed numbers in a tensor of the input's shape.
#include "ops/op_list.h"
#include "ops/tensor/random_source.h"

namespace assay::op_onnx_RandomNormalLike {
namespace {

void eval(EvalContext& c) { c.set_output(0, draw_normal(c, c.shape(0))); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T1
out output: T2
attr dtype: int
attr seed: float
attr scale: float = 1
attr mean: float = 0
type T1: @all
type T2: @float)",
     infer_random_like, eval},
    {22, R"(
in  input: T1
out output: T2
attr dtype: int
attr seed: float
attr scale: float = 1
attr mean: float = 0
type T1: @all_ir4
type T2: @float_ir4)",
     infer_random_like, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "",
                             .name = "RandomNormalLike",
                             .versions = kVersions,
                             .numerics = {.kind = Numerics::Kind::kElementwise},
                             .random = true};

}  // namespace assay::op_onnx_RandomNormalLike
