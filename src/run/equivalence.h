// Evidence that a changed model computes what the original does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "run/data_loader.h"

namespace assay {

struct EquivalenceOptions {
  /// Seed, ranges and shapes of the data. Extents that stay open are tried with several sizes.
  DataLoaderOptions data;
  /// Loaded inputs: each list is a trial of its own, before those with generated data. What a list lacks is
  /// an error.
  std::vector<TensorList> loaded;
  int trials = 3;  ///< with generated data, other data each, and other sizes where there are open ones
};

/// Evaluates both models in float64 on the same generated data and judges every output of the changed one by
/// the arbiter: it must be the original's exact value, or differ from it by no more than rounding of the
/// declared types explains (folded constants are rounded to their types). Logs each trial. A trial that the
/// original itself cannot do (sizes that its operators refuse) is left out. Returns what stands against the
/// change; empty when all trials agree. Throws Error (kUnsupported) when no trial could be done.
std::string find_difference(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                            const EquivalenceOptions& options);

}  // namespace assay
