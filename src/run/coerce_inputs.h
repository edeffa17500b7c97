// Makes data fit the inputs of a runner: matched by name, cast and brought into shape, with a warning for
// each step.
#pragma once

#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/tensor.h"

namespace assay {

/// Data that do not fit an input.
struct Misfit {
  std::string message;
};

/// The tensor for an input, which stands at `index` among the inputs: that of its name, else one of a similar
/// name, else the one at that place. Throws Misfit.
Tensor coerce_input(const TensorList& data, const TensorInfo& input, size_t index);
/// All inputs, in their order. What does not fit is logged as critical and ends in ExpectedError.
std::vector<Tensor> coerce_inputs(const TensorList& data, const std::vector<TensorInfo>& inputs);

/// Throws Error unless all inputs are tensors of a known type.
void require_tensors(const std::vector<TensorInfo>& inputs);

/// Tells data from others, by names, types, shapes and elements.
std::string fingerprint_of(TensorList data);

}  // namespace assay
