// Iterations of a loop on one context: nothing is allocated, looked up or copied from step to step.
#pragma once

#include "engine/runtime/kernel.h"
#include "ops/control/iterations.h"

namespace assay::engine {

/// Runs the iterations where the plan of the body holds for all of them: shapes are known, what is carried
/// keeps its own, and nothing of them depends on what changes. The body reads entries where they lie and
/// writes those of stacks where they belong; what is carried has two places, in turns. `captured` are the
/// body's last inputs. False, and nothing has happened, where a plan is not such a one, or where stacks grow
/// for nobody knows how long. Throws Error.
bool run_prepared(const Graph& body, NetworkRunner& runner, std::span<const Tensor> captured,
                  Iterations& iterations);

}  // namespace assay::engine
