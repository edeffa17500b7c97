// Vision transformers (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021), named as in timm: 224x224,
// patches of 16x16, 1000 classes.
#pragma once

#include <memory>
#include <string>

#include "templates/builder.h"
#include "templates/layers.h"

namespace assay {

struct VisionTransformerSpec {
  int64_t width, heads;
  int layers;
};

std::shared_ptr<Model> build_vision_transformer(const TemplateOptions& options, std::string name,
                                                const VisionTransformerSpec& spec,
                                                const ExportStyle& style = {});

}  // namespace assay
