// Other element types for what a model takes and gives.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// An element type for an input or output of a model; `name` may be a pattern (`*`, `?`, `[`, `re:`).
struct IoType {
  std::string name;
  DType dtype = DType::kUndefined;
};

/// Gives inputs and outputs these types, with Cast nodes behind and before them; a name counts more than a
/// pattern, and of equals the later one. Patterns mean floating-point tensors. Types of the values are known.
/// Throws Error: kNotFound for a name that none has, with the nearest ones; kUnsupported for types that Cast
/// does not lead to. `unknown`: gets the sentences of kNotFound instead, if it is given.
void set_io_types(Model& model, const std::vector<IoType>& types,
                  std::vector<std::string>* unknown = nullptr);

}  // namespace assay
