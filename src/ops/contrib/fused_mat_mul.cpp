// FusedMatMul: alpha * A' * B' as numpy.matmul, where A' and B' are A and B or their transposes, by the last
// two dimensions or with the first one taken behind the batch.
#include "ops/contrib/fused_operands.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_ms_FusedMatMul {
namespace {

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out Y: T
attr transBatchB: int = 0
attr transBatchA: int = 0
attr transB: int = 0
attr transA: int = 0
attr alpha: float = 1
type T: @float_ir4)",
     infer_fused_product, eval_fused_product},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "FusedMatMul",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = fused_product_terms},
    .facts =
        {
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_FusedMatMul
