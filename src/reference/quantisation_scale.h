// Operators that round a scaled number to a step: the scale's own rounding decides what lies half-way.
#pragma once

#include "assay/graph.h"

namespace assay {

/// The input that scales what the node rounds to whole numbers; -1 when it does not.
int quantisation_scale_input(const Node& n);

/// Whether the node gives levels of a quantisation, as its first output.
bool gives_levels(const Node& n);

/// Whether a node gives whole numbers whatever it is given: a narrow type has those that are not too large,
/// so that they were none but what is stored.
bool gives_whole_numbers(const Node& n);

/// A few roundings on the way to the value that is rounded to a step.
inline constexpr double kScaleUlps = 8;

}  // namespace assay
