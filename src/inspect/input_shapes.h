// Other shapes for the inputs of a model.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// Gives graph inputs other extents: those that select_inputs() finds. The
/// declared shapes of everything that is computed, outputs included, are forgotten, so that inference finds
/// them. Throws Error: kNotFound when no input matches, kInvalidArgument when the rank is another.
void set_input_shape(Model& model, const std::string& pattern, const Dims& dims);

}  // namespace assay
