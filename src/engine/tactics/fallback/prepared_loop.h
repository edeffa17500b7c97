// Runs a loop's iterations on one context, without allocations, lookups or copies between them.
#pragma once

#include "engine/runtime/kernel.h"
#include "ops/control/iterations.h"

namespace assay::engine {

/// Runs the iterations if the plan of the body applies to all of them: shapes are
/// known, carried values keep theirs, and no shape depends on varying elements.
/// The body reads scanned entries and writes stacked ones in place; carried values
/// alternate between two buffers. `captured` are the body's last inputs. Returns false
/// without effect for other plans, and for stacks of unknown length. Throws Error.
bool run_prepared(const Graph& body, NetworkRunner& runner, std::span<const Tensor> captured,
                  Iterations& iterations);

}  // namespace assay::engine
