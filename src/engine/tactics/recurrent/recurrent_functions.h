// The activation functions of recurrent steps, in plans.
#pragma once

#include <string>
#include <vector>

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic.h"
#include "kernels/rnn/recurrence.h"

namespace assay::engine {

/// Writes those of a node's directions into the step's parameters.
void write_recurrent_functions(const Problem& p, kernels::RecurrentKind kind, int64_t directions, Step& step);

/// The directions with the functions that a step has. Throws Error for numbers that are none.
std::vector<kernels::RecurrentDirection> read_recurrent_directions(const StepReader& r,
                                                                   kernels::RecurrentKind kind,
                                                                   int64_t directions, bool backward);

}  // namespace assay::engine
