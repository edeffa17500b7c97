// Patterns of the wrong elements of a result.
#pragma once

#include <string>

#include "assay/arbiter.h"
#include "tensor/tensor_store.h"

namespace assay {

/// One phrase, such as "only channel 3 (axis 1)" or "every element is 1.01 times the exact one"; empty
/// without a clear pattern. `verdict` has the explained error at the worst element.
std::string describe_pattern(const StoredTensor& result, const Tensor& exact, const ArbiterVerdict& verdict);

}  // namespace assay
