// Descriptions of inferences for scripts, and their verdicts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/item.h"

namespace assay::script {

struct Iteration {
  std::string runner_name;
  std::optional<double> runtime;  ///< seconds
  TensorList outputs;             ///< in the runner's order
};

/// Its form for Python scripts (python/assay_child/results.py).
Item to_item(const Iteration& iteration);

/// A script's verdict on one output.
struct ScriptVerdict {
  std::string output;
  bool passed = false;
  /// Numbers by name that the verdict carries, such as max_absdiff of Polygraphy's OutputCompareResult.
  std::vector<std::pair<std::string, double>> figures = {};
};

}  // namespace assay::script
