// The sums of each operator: for one element of a result the addends (ops/numerics/summation.h).
#pragma once

#include "ops/numerics/summation.h"
#include "ops/op_context.h"

namespace assay {

/// Fills in the sums in element `i` (row-major) of output `out.output`. All floats are float64. False when
/// the element has none. Throws Error where eval would.
using SumsOf = bool (*)(EvalContext& c, int64_t i, SummedElement& out);

/// By the lines of sums.def; null for an operator without one, or whose sums are made within steps
/// (ops/numerics/steps.h).
SumsOf sums_of(const OpDef& op);
/// Why an operator whose bounds assume independent roundings needs no line: from sums.def. Empty for others.
std::string_view why_without_sums(const OpDef& op);

/// Output `output` of a node as it is when float32 adds up its sums in this order and rounds nothing else;
/// `y` is the exact one. `addends_left` says how many addends may be added up: where they are more, it is y.
Tensor with_sums_in_order(EvalContext& c, SumsOf sums, size_t output, const Tensor& y, SumOrder order,
                          int64_t& addends_left);

/// How far each element may be from the exact one because of its sums (explained_by_sums()). Undefined where
/// there are more addends.
Tensor room_of_sums(EvalContext& c, SumsOf sums, size_t output, const Shape& shape, int64_t& addends_left);

/// One sum: factor * sum + offset.
void set_sum_of_products(Addends addends, double factor, double offset, SummedElement& out);

// One function for each family of operators, here or in the operator's file.
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
bool sums_of_batch_normalization(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_class_loss(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_col2_im(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_deform_conv(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_dft(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_fused_conv(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_fused_gemm(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_fused_product(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_range(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_roi_align(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_scatter_elements(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_scatter_nd(EvalContext& c, int64_t i, SummedElement& out);
bool sums_of_stft(EvalContext& c, int64_t i, SummedElement& out);

}  // namespace assay
