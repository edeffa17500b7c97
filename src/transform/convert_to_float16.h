// Converts a model to float16.
#pragma once

#include "assay/graph.h"

namespace assay {

/// Converts every float32 tensor of the model to float16, including subgraphs; the model's own inputs and
/// outputs keep their types through Casts. If an operator's schema has no float16 (and for calls of
/// functions, unknown operators, scattering with a reduction, and batch normalization by variances that are
/// not normal numbers of float16) the node keeps float32 between Casts. Weights beyond float16's range become
/// its largest number, underflowing ones its smallest, so that a mask stays finite and an epsilon stays
/// positive; a warning counts them. Throws Error when the type of a tensor is unknown or a model input is a
/// sequence of float32.
void convert_to_float16(Model& model);

}  // namespace assay
