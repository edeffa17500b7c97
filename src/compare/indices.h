// Comparison of outputs that hold indices, such as those of a top-k.
#pragma once

#include "compare/outputs.h"
#include "compare/tolerance.h"

namespace assay {

/// Every value of the first output must stand in the second within `index_tolerance` places of where it
/// stands in the first, counted along the last axis. As many places at the end of each row are not looked at.
class IndicesComparison : public Comparison {
 public:
  /// Default tolerance 0. With `fail_fast`, an output is left at its first mismatch.
  explicit IndicesComparison(PerOutput<int64_t> index_tolerance, bool fail_fast = false)
      : index_tolerance_(std::move(index_tolerance)), fail_fast_(fail_fast) {}
  OutputVerdict compare(const OutputPair& pair) const override;

 private:
  PerOutput<int64_t> index_tolerance_;
  bool fail_fast_;
};

}  // namespace assay
