// Shared parts of the Inception networks.
#pragma once

#include <initializer_list>
#include <string_view>

#include "templates/conv_net.h"

namespace assay {

inline constexpr NormSpec kInceptionNorm = {1.0, 0.5, 1e-3};

/// Convolution, batch normalization, ReLU.
Feature inception_conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec);
/// Kernels with an even border: 1x1, 3x3, 1xn and nx1.
ConvSpec same_conv(int64_t outputs, int64_t height = 1, int64_t width = 1);
/// 3x3 without border.
ConvSpec valid_conv(int64_t outputs, int64_t stride);

struct NamedConv {
  std::string_view name;
  ConvSpec spec;
};
/// In sequence.
Feature inception_chain(TemplateBuilder& b, const Scope& s, Feature x,
                        std::initializer_list<NamedConv> convs);
/// GlobalAveragePool, Flatten, Gemm, output of 1000 classes.
void inception_head(TemplateBuilder& b, const Scope& pool, const Scope& fc, const Feature& x);

}  // namespace assay
