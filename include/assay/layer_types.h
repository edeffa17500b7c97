// Wishes for the element types of single layers of an engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/dtype.h"

namespace ASSAY_API assay {

/// How far wishes bind; as TensorRT's builder flags OBEY_ and PREFER_PRECISION_CONSTRAINTS.
enum class PrecisionConstraints : uint8_t {
  kNone,    ///< they are not followed
  kPrefer,  ///< one that cannot be followed is a warning
  kObey,    ///< one that cannot be followed is an error
};

/// What some layers compute in, and what their outputs are stored in. Layers are the nodes of the ONNX model.
struct LayerTypes {
  /// A selector of nodes (docs/reference/selectors.md): `conv1`, `block*`, `re:.*norm.*`, `op:Softmax`,
  /// `loop::x`.
  std::string layers;
  /// float32, float16, bfloat16 or int8; kUndefined: no wish.
  DType precision = DType::kUndefined;
  /// By position, or one for all outputs; kUndefined: no wish.
  std::vector<DType> outputs = {};
};

}  // namespace assay
