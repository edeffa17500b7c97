// Strips the weights of a model, so that only its structure is left.
#pragma once

#include <set>
#include <string>

#include "assay/graph.h"
#include "surgeon/weight_observer.h"

namespace assay {

/// Strips the initializers of the main graph that are weights, as Polygraphy's `surgeon weight-strip` chooses
/// them: the constant operands of Conv, ConvTranspose, Gemm and MatMul, also behind a Transpose, and those
/// that reach one through QuantizeLinear and DequantizeLinear; the data of Gather and Slice and the operands
/// of operators outside the ONNX standard from 1024 elements on. uint8, strings, sparse initializers and the
/// names in `excluded` are kept.
///
/// A stripped initializer is marked in its doc string, with SPARSE_2_4 where it had that pattern (the only
/// reason to read data, at most one group of dense weights), and the model in its own. Logs
/// in Polygraphy's words, with a warning for excluded names that no initializer has. Returns how many were
/// stripped.
int64_t strip_weights(Model& model, const std::set<std::string>& excluded = {},
                      WeightObserver* observer = nullptr);

}  // namespace assay
