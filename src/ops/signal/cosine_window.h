// The windows that are sums of cosines: Hann, Hamming and Blackman.
#pragma once

#include <array>

#include "ops/op_context.h"

namespace assay {

/// A vector of `size` elements of the type in output_datatype.
void infer_cosine_window(InferContext& c);

/// Output 0 is a[0] - a[1] cos(t) + a[2] cos(2t) with t = 2 pi n / N; N is the size, for symmetric windows
/// one less. A symmetric window of one element is 1.
void eval_cosine_window(EvalContext& c, const std::array<double, 3>& a);

/// The cosines' arguments err by up to 2 u * 4 pi, and so, weighted, the sum: 32 u covers that and the other
/// roundings.
Tensor bound_cosine_window(EvalContext& c, double u, size_t i, const Tensor& y);

/// The size to expect: each cosine errs by its argument, of three roundings, along its slope, and by a
/// library's rounding.
Tensor expected_cosine_window(EvalContext& c, double u, const Tensor& y, const std::array<double, 3>& a);

}  // namespace assay
