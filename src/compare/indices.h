// Comparison of outputs that hold indices, such as those of a top-k.
#pragma once

#include "compare/comparison.h"

namespace assay {

/// Every value of the first output must be in the second within `index_tolerance` positions of its position
/// in the first, along the last axis. That many positions at the end of each row are ignored. With fail_fast,
/// an output ends at its first mismatch, too.
class IndicesComparison : public OutputwiseComparison {
 public:
  /// Default tolerance 0.
  explicit IndicesComparison(PerOutput<int64_t> index_tolerance)
      : index_tolerance_(std::move(index_tolerance)) {}
  CompareFunction function() const override { return CompareFunction::kIndices; }
  const PerOutput<int64_t>& index_tolerance() const { return index_tolerance_; }

 protected:
  OutputResult compare_pair(const OutputPair& pair, PairCache& cache, const CompareOptions& options,
                            CompareObserver& observer) const override;

 private:
  PerOutput<int64_t> index_tolerance_;
};

}  // namespace assay
