// The default comparison: absolute and relative error against tolerances.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "compare/difference.h"
#include "compare/outputs.h"
#include "compare/tolerance.h"

namespace assay {

/// What is held against the tolerances.
enum class ErrorStat : uint8_t {
  kMax,       ///< the greatest errors
  kMean,      ///< the mean errors
  kMedian,    ///< the median errors
  kElemwise,  ///< each element; it fails when it exceeds both tolerances
  kQuantile,  ///< the quantile SimpleOptions::error_quantile of the errors
};
/// max, mean, median, elemwise, quantile.
std::string_view error_stat_name(ErrorStat stat);
std::optional<ErrorStat> error_stat_from_name(std::string_view name);

/// Draws what the comparison of one output found. Called while its errors are being logged.
class ErrorPictures {
 public:
  virtual ~ErrorPictures() = default;
  /// `reference` is the second output. The statistics are those of the errors.
  virtual void draw_errors(const OutputPair& pair, const Difference& difference, const Numbers& reference,
                           const Statistics& absolute, const Statistics& relative) = 0;
  /// `title`: `Absolute Error | y` or `Relative Error | y`.
  virtual void draw_heatmap(const std::string& title, const Numbers& errors, const Statistics& statistics,
                            bool log_scale) = 0;
};

struct SimpleOptions {
  /// Outputs of different shapes fail; otherwise the second is permuted or reshaped where that is possible.
  bool check_shapes = true;
  PerOutput<Tolerance> rtol;                ///< of the second output; default 1e-5
  PerOutput<Tolerance> atol;                ///< default 1e-5
  PerOutput<ErrorStat> check_error_stat;    ///< default kElemwise
  PerOutput<double> error_quantile;         ///< in [0, 1]; default 0.99
  bool infinities_compare_equal = false;    ///< equal infinities differ by 0; else by NaN, which always fails
  std::shared_ptr<ErrorPictures> pictures;  ///< null: none
};

/// An output passes when the checked statistic of the absolute error is within atol or that of the relative
/// error is within rtol. NaN is never within. Where NumPy's differences of 32- and 64-bit integers wrap
/// around, ours are exact; an empty output passes whatever is checked, where upstream fails its mean and
/// quantile; strings are compared for equality.
class SimpleComparison : public Comparison {
 public:
  explicit SimpleComparison(SimpleOptions options) : options_(std::move(options)) {}
  void begin(const OutputSource& source0, const OutputSource& source1) const override;
  OutputVerdict compare(const OutputPair& pair) const override;

 private:
  SimpleOptions options_;
};

}  // namespace assay
