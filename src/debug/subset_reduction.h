// Reduction of a model to any of its nodes, and of all else that a failure does not need; for reduce.cpp.
#pragma once

#include "debug/reduction.h"

namespace assay::debug {

Reduction reduce_to_subset(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                           Iterations& iterations, ReductionObserver& observer);

}  // namespace assay::debug
