// The default comparison: absolute and relative error against tolerances.
#pragma once

#include "compare/comparison.h"

namespace assay {

struct SimpleOptions {
  /// Outputs of different shapes fail; otherwise the second is permuted or reshaped where that is possible.
  bool check_shapes = true;
  PerOutput<Tolerance> rtol;              ///< of the second output; default 1e-5
  PerOutput<Tolerance> atol;              ///< default 1e-5
  PerOutput<ErrorStat> check_error_stat;  ///< default kElemwise
  PerOutput<double> error_quantile;       ///< in [0, 1]; default 0.99
  bool infinities_compare_equal = false;  ///< equal infinities differ by 0; else by NaN, which always fails

  SimpleThreshold threshold_for(const std::string& output) const;
};

/// An output passes when the checked statistic of the absolute error is within atol or that of the relative
/// error is within rtol. NaN is never within. Where NumPy's differences of 32- and 64-bit integers wrap
/// around, ours are exact; an empty output passes whatever is checked, where upstream fails its mean and
/// quantile; strings are compared for equality.
class SimpleComparison : public OutputwiseComparison {
 public:
  explicit SimpleComparison(SimpleOptions options) : options_(std::move(options)) {}
  CompareFunction function() const override { return CompareFunction::kSimple; }
  Threshold threshold_for(const std::string& output) const override { return options_.threshold_for(output); }
  const SimpleOptions& options() const { return options_; }

 protected:
  void begin(const OutputSource& source0, const OutputSource& source1,
             CompareObserver& observer) const override;
  OutputResult compare_pair(const OutputPair& pair, PairCache& cache, const CompareOptions& options,
                            CompareObserver& observer) const override;

 private:
  SimpleOptions options_;
};

}  // namespace assay
