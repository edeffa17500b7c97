#include "debug/marker_reduction.h"
#include "debug/subset_reduction.h"

namespace assay::debug {

Reduction reduce(const std::shared_ptr<Model>& model, const ReductionOptions& options, Iterations& iterations,
                 ReductionObserver& observer) {
  const auto search = options.mode == ReductionMode::kSubsets ? reduce_to_subset : reduce_by_markers;
  return search(model, options, iterations, observer);
}

}  // namespace assay::debug
