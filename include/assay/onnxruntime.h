// Where ONNX Runtime is.
#pragma once

#include <string_view>

#include "assay/api.h"

namespace ASSAY_API assay {

/// As a host knows that has packages of its own: a library, a folder that holds one, or a Python environment.
/// ONNX Runtime is looked for there after the environment's variable, and before the machine's places. To be
/// called before the first session is opened.
void prefer_onnxruntime(std::string_view place);

}  // namespace assay
