// GlobalMaxPool: the largest element of each plane; NaN if the plane has one.
#include <cmath>

#include "ops/nn/global_pool.h"
#include "ops/op_list.h"

namespace assay::op_onnx_GlobalMaxPool {
namespace {

void eval(EvalContext& c) {
  reduce_planes(c, [](const double* x, int64_t n) {
    double largest = x[0];
    for (int64_t i = 1; i < n; ++i)
      if (x[i] > largest || std::isnan(x[i])) largest = x[i];
    return largest;
  });
}

constexpr OpVersion kVersions[] = {
    {1, "same as Ceil-6", infer_global_pool, eval},
    {22, "same as Ceil-13", infer_global_pool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GlobalMaxPool",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .pool = PoolFact::kLargest,
            .compares = {{{.reach = ComparisonFact::Reach::kLargest}}},
        },
};

}  // namespace assay::op_onnx_GlobalMaxPool
