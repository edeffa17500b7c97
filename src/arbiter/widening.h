// What a node's arithmetic may err beyond what bounds say by default, from its own inputs. Dear, so only for
// what seems wrong.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/trial.h"

namespace assay {

/// A convolution of stride 1 may be computed from whole tiles (S. Winograd,
/// Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional
/// Neural Networks, 2016): then each result has rounding errors of the size of the largest numbers in its
/// tile, also where its own window is small. False when the node is no such convolution.
bool widen_for_winograd(const Trial& trial, double u, Explained& explained);

/// A quotient may be computed as a product with the reciprocal, which is rounded, too. False when the node is
/// no Div.
bool widen_for_reciprocal(const Trial& trial, const Tensor& exact, double u, Explained& explained);

/// Softmax of a narrow type's computed numbers, which the backend may have had before they were rounded: with
/// large ones that decides which is the largest. False when the node is none.
bool widen_for_unrounded(const Trial& trial, const SuspectNode& suspect, const Tensor& exact,
                         Explained& explained);

}  // namespace assay
