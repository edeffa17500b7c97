// Layers on sequences [batch, channels, length]: speech and sound.
#pragma once

#include "templates/builder.h"

namespace assay {

struct DepthwiseConv1d {
  int64_t inputs = 0, outputs = 0;
  int64_t kernel = 1, stride = 1, pad = 0, dilation = 1, groups = 1;
  bool bias = true;
  double gain = 1;  ///< deviation of the weights, in those that keep the scale

  /// The padding that keeps the length at stride 1 and an odd kernel.
  DepthwiseConv1d same() const;
};
Value* depthwise_conv1d(TemplateBuilder& b, const Scope& s, Value* x, const DepthwiseConv1d& spec);
/// ConvTranspose; weights [inputs, outputs, kernel].
Value* depthwise_conv1d_transpose(TemplateBuilder& b, const Scope& s, Value* x, const DepthwiseConv1d& spec);

/// Group normalization as PyTorch exports it: Reshape, InstanceNormalization, Reshape, Mul, Add. `spatial` is
/// the number of axes after the channels.
Value* group_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t channels, int64_t groups, int spatial,
                  float epsilon = 1e-5F);
/// LeakyRelu of that slope.
Value* leaky(TemplateBuilder& b, const Scope& s, Value* x, float slope);

/// One step of torch.nn.LSTMCell as it is exported: Gemm, Split, Sigmoid, Tanh. All of [batch, ...].
struct CellState {
  Value *hidden, *cell;
};
CellState lstm_cell(TemplateBuilder& b, const Scope& s, Value* x, const CellState& state, int64_t inputs,
                    int64_t hidden);

}  // namespace assay
