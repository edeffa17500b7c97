// Requested element types of individual layers of an engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/dtype.h"

namespace ASSAY_API assay {

/// How strictly requests are enforced, as TensorRT's builder flags OBEY_ and PREFER_PRECISION_CONSTRAINTS.
enum class PrecisionConstraints : uint8_t {
  kNone,    ///< ignored
  kPrefer,  ///< one that cannot be honored is a warning
  kObey,    ///< one that cannot be honored is an error
};

/// Types in which layers (nodes of the ONNX model) compute, and of their outputs.
struct LayerTypes {
  /// A selector of nodes (docs/reference/selectors.md): `conv1`, `block*`, `re:.*norm.*`, `op:Softmax`,
  /// `loop::x`.
  std::string layers;
  /// float32, float16, bfloat16 or int8; kUndefined: not set.
  DType precision = DType::kUndefined;
  /// By position, or one for all outputs; kUndefined: not set.
  std::vector<DType> outputs = {};
};

}  // namespace assay
