// GlobalAveragePool: the mean of each plane.
#include "ops/nn/global_pool.h"
#include "ops/op_list.h"

namespace assay::op_onnx_GlobalAveragePool {
namespace {

void eval(EvalContext& c) {
  reduce_planes(c, [](const double* x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    return sum / static_cast<double>(n);
  });
}

int64_t terms(EvalContext& c) { return plane_size(c); }

constexpr OpVersion kVersions[] = {
    {1, "same as Ceil-6", infer_global_pool, eval},
    {22, "same as Ceil-13", infer_global_pool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GlobalAveragePool",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .sums = SumsFact::kMean,
            .reduction = {.kernel = kernels::Reduction::kMean},
            .pool = PoolFact::kMean,
        },
};

}  // namespace assay::op_onnx_GlobalAveragePool
