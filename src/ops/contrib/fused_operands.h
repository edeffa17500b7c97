// The operands of FusedMatMul and TransposeMatMul.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// alpha * A' * B' as numpy.matmul. A' is A with its last two dimensions swapped for transA; for transBatchA
/// the first dimension of A goes behind the batch before that. A vector is taken as it is.
void infer_fused_product(InferContext& c);
void eval_fused_product(EvalContext& c);
/// Dimension i of A' (operand 0) or B' (1) is dimension order[i] of A or B, which have this rank.
std::vector<size_t> fused_operand_order(const OpContext& c, size_t operand, size_t rank);
/// The products of one element, and the scaling.
int64_t fused_product_terms(EvalContext& c);

}  // namespace assay
