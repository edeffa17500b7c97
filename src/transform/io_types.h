// Changes the element types of a model's inputs and outputs.
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

/// Sets the types of inputs and outputs, with Cast nodes after and before them; a name takes precedence over
/// a pattern, and of equals the later one. Patterns match floating-point tensors. Types of the values must be
/// known. Throws Error: kNotFound for an unknown name, with the nearest ones; kUnsupported for types that
/// Cast does not support. `unknown`: receives the sentences of kNotFound instead, if given.
void set_io_types(Model& model, const std::vector<IoType>& types,
                  std::vector<std::string>* unknown = nullptr);

}  // namespace assay
