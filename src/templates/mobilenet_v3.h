// MobileNetV3 (Howard et al., "Searching for MobileNetV3", 2019), as torchvision builds it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "templates/conv_net.h"

namespace assay {

struct MobileNetV3Block {
  int64_t kernel, expanded, outputs;
  bool squeezes, is_swish;  ///< with squeeze-and-excitation; hard swish instead of ReLU
  int64_t stride;
};

struct MobileNetV3Spec {
  std::span<const MobileNetV3Block> blocks;
  int64_t hidden;  ///< width of the classifier's first layer
  Nonlinearity swish = Nonlinearity::kHardSwish;
};

std::shared_ptr<Model> build_mobilenet_v3(const TemplateOptions& options, std::string name,
                                          const MobileNetV3Spec& spec);
/// The multiple of 8 nearest to the number of channels, but not below nine tenths of it.
int64_t divisible_channels(int64_t channels);

}  // namespace assay
