// Judges shape inference by evaluation.
#pragma once

#include <string>

#include "run/conformance.h"

namespace assay {

/// Infers the types of a case's model three times: as declared, with a distinct symbol for every extent of
/// its inputs, and with inputs of unknown rank. Passes when no type of a value of the main graph contradicts
/// the tensor that the reference computes for it, symbols and their expressions included, and nothing throws.
/// Incomplete types pass.
ConformanceResult run_inference_case(const std::string& folder);

}  // namespace assay
