// A node's cost, before it is evaluated.
#pragma once

#include <cstdint>

#include "assay/graph.h"
#include "ops/op_def.h"

namespace assay {

/// Steps of the reference evaluation of a node of the operator `op` (null: unknown), by its inferred types
/// and attributes: the elements that it reads and writes, and more where an element takes more than a few
/// (multiply_accumulates(), windows, Fourier transforms, pairs of boxes). Unknown parts count nothing;
/// INT64_MAX when the number is larger. Subgraphs are not counted. Needs no valid node.
int64_t work_estimate(const Node& node, const OpDef* op);

// For OpFacts: unknown parts count nothing here, either.
int64_t window_steps(const Node&);
int64_t neighbour_steps(const Node&);
int64_t sample_steps(const Node&);
/// Every box of a class is compared with every one that is kept.
int64_t box_pair_steps(const Node&);
int64_t elimination_steps(const Node&);
/// The elements of the result, times those of a row of input 0.
int64_t row_product_steps(const Node&);
/// A transform of length n takes n steps for every prime that divides it, times that prime, or times some
/// hundred where it is larger.
int64_t fourier_steps(const Node&);

}  // namespace assay
