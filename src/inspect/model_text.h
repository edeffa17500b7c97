// A model as text, in Polygraphy's layout.
#pragma once

#include <string>

#include "assay/inspect.h"

namespace assay {

/// The first line of a model's text: `Name: g | ONNX Opset: 17 | Other Opsets: {'my.domain': 1}`.
std::string model_title(const ModelDescription& model);

}  // namespace assay
