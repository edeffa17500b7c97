// EfficientNets (Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
// 2019, and "EfficientNetV2: Smaller Models and Faster Training", 2021), as torchvision builds them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "templates/conv_net.h"

namespace assay {

struct EfficientNetStage {
  int64_t expansion, kernel, stride, channels;
  int blocks;
  bool is_fused =
      false;  ///< expansion and depthwise convolution are one dense one, without squeeze-and-excitation
};

struct EfficientNetSpec {
  std::span<const EfficientNetStage> stages;
  int64_t extent, stem;
  double epsilon = 1e-5;  ///< of the batch normalizations
};

std::shared_ptr<Model> build_efficientnet(const TemplateOptions& options, std::string name,
                                          const EfficientNetSpec& spec);

}  // namespace assay
