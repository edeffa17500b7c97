// How long a node takes, before it is evaluated.
#pragma once

#include <cstdint>

#include "assay/graph.h"

namespace assay {

/// Steps of the plain evaluation of a node, by its inferred types and attributes: the elements that it reads
/// and writes, and more where an element takes more than a few (multiply_accumulates(), windows, Fourier
/// transforms, pairs of boxes). What is not known counts nothing; INT64_MAX when the number is larger.
/// Subgraphs are not looked into. Needs no valid node.
int64_t work_estimate(const Node& node);

/// Whether the operator is one whose results may be much larger than its inputs.
bool may_blow_up(const Node& node);

}  // namespace assay
