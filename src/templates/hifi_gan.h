// HiFi-GAN's generator (Kong et al., "HiFi-GAN: Generative Adversarial Networks for Efficient and High
// Fidelity Speech Synthesis", 2020): transposed convolutions, each followed by sums of residual blocks.
// Weight normalization is part of the weights.
#pragma once

#include <span>
#include <vector>

#include "templates/builder.h"

namespace assay {

struct HifiGanBlock {
  int64_t kernel;
  std::vector<int64_t> dilations;
};

struct HifiGanSpec {
  int64_t inputs, channels;  ///< of the input and after the first convolution; halved by each upsampling
  std::vector<std::pair<int64_t, int64_t>> upsampling;  ///< rate and kernel
  std::vector<HifiGanBlock> blocks;
  bool has_second_convs =
      true;  ///< each dilated convolution is followed by a plain one (the paper's ResBlock1)
};

/// [batch, inputs, frames] to [batch, 1, samples] in [-1, 1].
Value* hifi_gan(TemplateBuilder& b, const Scope& s, Value* x, const HifiGanSpec& spec);

}  // namespace assay
