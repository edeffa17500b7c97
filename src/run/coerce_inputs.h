// Converts data to the inputs of a runner: matched by
// name, cast and reshaped, with a warning for each step.
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

/// The tensor for the input at `index`: that of its name, else one of a similar name, else the one at that
/// position. Throws Misfit.
Tensor coerce_input(const TensorList& data, const TensorInfo& input, size_t index);
/// All inputs, in order. A mismatch is logged as critical and throws ExpectedError.
std::vector<Tensor> coerce_inputs(const TensorList& data, const std::vector<TensorInfo>& inputs);

/// Throws Error unless all inputs are tensors of a known type.
void require_tensors(const std::vector<TensorInfo>& inputs);

/// A fingerprint of data: of names, types, shapes and elements.
std::string fingerprint_of(TensorList data);

}  // namespace assay
