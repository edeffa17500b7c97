// What scripts are told of inferences, and what they say of them.
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

/// As Python scripts get it (python/assay_child/results.py).
Item to_item(const Iteration& iteration);

/// What a script says of one output.
struct ScriptVerdict {
  std::string output;
  bool passed = false;
  /// Numbers by name that the verdict carries, such as max_absdiff of Polygraphy's OutputCompareResult.
  std::vector<std::pair<std::string, double>> figures = {};
};

}  // namespace assay::script
