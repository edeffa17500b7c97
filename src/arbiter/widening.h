// Errors of a node's arithmetic beyond the default bounds, from its own inputs. Expensive, so only for
// results that seem wrong.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/trial.h"

namespace assay {

/// A convolution of stride 1 may be computed from whole tiles (S. Winograd,
/// Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional
/// Neural Networks, 2016): then each result has rounding errors of the size of the largest numbers in its
/// tile, even if its own window is small. False for other nodes.
bool widen_for_winograd(const Trial& trial, double u, Explained& explained);

/// A quotient may be computed as a product with the
/// rounded reciprocal. False when the node is not a Div.
bool widen_for_reciprocal(const Trial& trial, const Tensor& exact, double u, Explained& explained);

/// Softmax of computed numbers of a narrow type, which the backend may have had unrounded: for large ones
/// that decides the maximum. False for other nodes.
bool widen_for_unrounded(const Trial& trial, const SuspectNode& suspect, const Tensor& exact,
                         Explained& explained);

}  // namespace assay
