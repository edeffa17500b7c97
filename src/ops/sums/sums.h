// What each operator adds up: for one element of a result the addends of its sums (ops/numerics/summation.h).
#pragma once

#include "ops/numerics/summation.h"
#include "ops/op_context.h"

namespace assay {

/// Fills in the sums in element `i` (row-major) of output 0. All floats are float64. False when the element
/// has none. Throws Error where eval would.
using SumsOf = bool (*)(EvalContext& c, int64_t i, SummedElement& out);

/// By the lines of sums.def; null for an operator without one, or whose sums are made within steps
/// (ops/numerics/steps.h).
SumsOf sums_of(const OpDef& op);

// One function for each family of operators.
bool sums_of_reduction(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_planes(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_window(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_cumulation(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_inputs(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_mat_mul(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_gemm(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_einsum(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_conv(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_conv_transpose(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_softmax(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_layer_normalization(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_channel_normalization(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_mean_variance(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_lp_normalization(EvalContext& c, int64_t i, SummedElement& out);

}  // namespace assay
