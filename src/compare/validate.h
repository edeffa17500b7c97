// Outputs that cannot be right: NaN and infinity.
#pragma once

#include <span>

#include "compare/outputs.h"

namespace assay {

struct ValidateOptions {
  bool check_inf = false;  ///< anything that is not finite is an error
  bool check_nan = true;   ///< NaN is an error
  bool fail_fast = false;  ///< stop at the first invalid output
};

/// Logs the statistics of every output and what is wrong with it; true when nothing is. Outputs that are
/// not numbers are valid.
bool validate_outputs(std::span<const RunnerOutputs> results, const ValidateOptions& options);

}  // namespace assay
