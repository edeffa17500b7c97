// Residual networks (He et al., "Deep Residual Learning for Image Recognition", 2016) and their variants, as
// torchvision builds them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "templates/conv_net.h"
#include "templates/model_template.h"

namespace assay {

enum class ResNetBlock : uint8_t {
  kBasic,       ///< two 3x3 convolutions
  kBottleneck,  ///< 1x1, 3x3, 1x1 with four times the channels; version 1.5, where the 3x3 has the stride
};

struct ResNetSpec {
  ResNetBlock block = ResNetBlock::kBottleneck;
  std::array<int, 4> depths{};  ///< blocks of the four stages
  int64_t groups = 1;           ///< of the 3x3 convolution of a bottleneck
  int64_t width_per_group = 64;
  int dilated_stages = 0;  ///< number of last stages with dilations instead of strides
};

/// The maps of the four stages, from the image x.
std::vector<Feature> resnet_stages(TemplateBuilder& b, const Scope& root, const Feature& x,
                                   const ResNetSpec& spec);
/// The classifier of 1000 classes.
std::shared_ptr<Model> build_resnet(const TemplateOptions& options, std::string name, const ResNetSpec& spec,
                                    const ExportStyle& style = {});

}  // namespace assay
