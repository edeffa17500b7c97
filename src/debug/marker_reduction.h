// Polygraphy's algorithm for reducing a model, for reduce.cpp.
#pragma once

#include "debug/reduction.h"

namespace assay::debug {

Reduction reduce_by_markers(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                            Iterations& iterations, ReductionObserver& observer);

}  // namespace assay::debug
