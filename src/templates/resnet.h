// Residual networks (He et al., "Deep Residual Learning for Image Recognition", 2016), as torchvision builds
// them.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "templates/templates.h"

namespace assay {

enum class ResNetBlock : uint8_t {
  kBasic,       ///< two 3x3 convolutions
  kBottleneck,  ///< 1x1, 3x3, 1x1 with four times the channels; version 1.5, where the 3x3 has the stride
};

/// `depths` are the numbers of blocks of the four stages.
std::shared_ptr<Model> build_resnet(const TemplateOptions& options, std::string name, ResNetBlock block,
                                    const std::array<int, 4>& depths);

}  // namespace assay
