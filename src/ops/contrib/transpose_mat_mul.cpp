// TransposeMatMul: alpha * A' * B' as numpy.matmul, where A' and B' are A and B or their transposes.
#include "ops/contrib/fused_operands.h"
#include "ops/op_list.h"

namespace assay::op_ms_TransposeMatMul {
namespace {

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out Y: T
attr transB: int = 0
attr transA: int = 0
attr alpha: float = 1
type T: @float_ir4)",
     infer_fused_product, eval_fused_product},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "TransposeMatMul",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = fused_product_terms},
};

}  // namespace assay::op_ms_TransposeMatMul
