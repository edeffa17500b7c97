// The small convolutional network for handwritten digits that introductions to inference engines begin with.
#pragma once

#include <memory>
#include <string>

#include "templates/model_template.h"

namespace assay {

enum class MnistTail : uint8_t {
  kDigits,   ///< Softmax and ArgMax
  kNonZero,  ///< and the positions where the hidden layer is not 0, whose number depends on data
  kShapes,   ///< extents are computed from Shape throughout, as exporters write them
};

/// [batch, 1, 28, 28] `tensor-0`: 5x5x32, pool, 5x5x64, pool, 1024, 10.
std::shared_ptr<Model> build_mnist(const TemplateOptions& options, std::string name, MnistTail tail);

}  // namespace assay
