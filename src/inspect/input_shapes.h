// Other shapes for the inputs of a model.
#pragma once

#include <string>

#include "assay/graph.h"

namespace assay {

/// Changes the shapes of graph inputs that select_inputs() finds. Clears the declared shapes of all computed
/// values, including outputs, so that inference determines them. Throws Error: kNotFound when no input
/// matches, kInvalidArgument when the rank is another.
void set_input_shape(Model& model, const std::string& pattern, const Dims& dims);

}  // namespace assay
