// Detects invalid outputs: NaN and infinity.
#pragma once

#include <string>

#include "compare/comparison.h"

namespace assay {

struct ValidateOptions {
  bool check_inf = false;  ///< anything that is not finite is an error
  bool check_nan = true;   ///< NaN is an error
};

/// The result for one output. Non-numeric outputs are valid.
struct ValidationResult {
  std::string runner, output;
  bool has_nan = false;         ///< and that is checked
  bool has_non_finite = false;  ///< the same
  bool valid() const { return !has_nan && !has_non_finite; }
  std::optional<ArraySummary> summary;  ///< of numbers
};

ValidationResult validate_output(const std::string& runner, const std::string& name, const Tensor& output,
                                 const ValidateOptions& options);

}  // namespace assay
