// GlobalLpPool: the p-norm of each plane.
#include "ops/nn/global_pool.h"
#include "ops/nn/lp_norm.h"
#include "ops/op_list.h"

namespace assay::op_onnx_GlobalLpPool {
namespace {

void eval(EvalContext& c) {
  const LpNorm norm(c);
  reduce_planes(c, [&](const double* x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += norm.term(x[i]);
    return norm.root(sum);
  });
}

/// The terms are positive: the sum's relative error is at most (n + p) u, and the root divides it by p.
int64_t terms(EvalContext& c) { return plane_size(c) + static_cast<int64_t>(std::ceil(LpNorm(c).p())); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr p: float = 2
type T: @float)",
     infer_global_pool, eval},
    {2, R"(
in  X: T
out Y: T
attr p: int = 2
type T: @float)",
     infer_global_pool, eval},
    {22, R"(
in  X: T
out Y: T
attr p: int = 2
type T: @float_ir4)",
     infer_global_pool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GlobalLpPool",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 4, .terms = terms},
    .facts =
        {
            .sums = SumsFact::kRootOfSquares,
        },
};

}  // namespace assay::op_onnx_GlobalLpPool
