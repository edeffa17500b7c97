// Maps as the ai.onnx.ml operators take them: keys and one number or string for each.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Input 0 of eval, in the order in which it came.
struct MapValue {
  /// Throws Error unless the input is a map of numbers or strings.
  explicit MapValue(const EvalContext& c);

  Tensor keys, values;  ///< one dimension each
};

/// The value type of the map that input 0 is; kUndefined when it is not known.
DType infer_map_values(const InferContext& c);

}  // namespace assay
