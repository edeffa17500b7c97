// How far the sums of a node walk on their way to the result, when they are added up in the order in which
// their factors lie in memory.
#pragma once

#include "arbiter/explained.h"
#include "arbiter/trial.h"

namespace assay {

/// Each addition is rounded in proportion to the sum so far. Where addends of one sign follow each other (a
/// flat part of an image under a window whose weights go from positive to negative), sums walk farther than
/// those of addends in a random order do, on the way to a small result. The root of the sum of the squares of
/// the partial sums is looked for along the axes that Conv, ConvTranspose, MatMul and Gemm add up over, in
/// row-major order and with the channels last, and along those of sums and means. False when the node is none
/// of these. `u` is the unit roundoff of the sums.
bool widen_for_partial_sums(const Trial& trial, double u, Explained& explained);

}  // namespace assay
