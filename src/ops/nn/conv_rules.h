// Shared by Conv, ConvInteger and QLinearConv: the rules on shapes.
#pragma once

#include "kernels/conv.h"
#include "ops/op_context.h"

namespace assay {

/// Sets the type and shape of output 0 for data input x and weight input w, as far as it is known. Throws
/// Error when a rule is broken.
void infer_conv(InferContext& c, DType dtype, size_t x, size_t w);
/// Throws Error when bias input b, if it is given, has not one element per kernel of weight input w.
void check_conv_bias(const InferContext& c, size_t w, size_t b);

struct ConvPlan {
  kernels::ConvSize size;
  kernels::Window window;
  Shape output;
};

/// The same for known shapes.
ConvPlan plan_conv(const OpContext& c, const Shape& x, const Shape& w);

/// The same for ConvTranspose: the window slides over the output, and its positions are the input's elements.
ConvPlan plan_conv_transpose(const OpContext& c, const Shape& x, const Shape& w);

/// The bias in input i, or null when it is left out. Throws Error unless it has one element per output
/// channel.
const double* conv_bias(EvalContext& c, size_t i, int64_t out_channels);

/// The attribute group. Throws Error unless it is positive and divides both numbers of channels (negative:
/// unknown).
int64_t read_group(const OpContext& c, int64_t in_channels, int64_t out_channels);

}  // namespace assay
