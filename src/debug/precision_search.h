// A small set of layers to hold in float32 so that the rest may be computed in a narrower type.
#pragma once

#include <vector>

#include "debug/engine_search.h"
#include "debug/precision_layers.h"

namespace assay::debug {

struct PrecisionOptions {
  DType lowered = DType::kFloat16;  ///< float16, bfloat16 or int8, which the configuration allows
  AccuracyGoal goal;
};

/// A set of layers that are held in float32, and what it comes to.
struct PrecisionPoint {
  std::vector<size_t> held;  ///< positions in PrecisionResult::layers, ascending
  Accuracy accuracy;
  double milliseconds = 0;  ///< of the fastest run on all data
  bool is_best = false;     ///< no other of the points is both as fast and as accurate
};

struct PrecisionResult {
  std::vector<PrecisionLayer> layers;  ///< those that could be lowered
  std::vector<std::string> not_alone;  ///< of bodies: those that could not, since they cannot be held alone
  /// How much error lowering each of them adds: the square of it in proportion to the goal. Layers that were
  /// only measured together share their sum. Empty where all may be lowered.
  std::vector<double> sensitivities;
  PrecisionPoint answer;
  Accuracy all_lowered, none_lowered;
  /// Layer types that hold the answer's layers in a build of one's own.
  std::vector<LayerTypes> types;
  PrecisionConstraints constraints = PrecisionConstraints::kObey;
  /// Ordered by how many layers are held; the answer is one of them.
  std::vector<PrecisionPoint> points;
};

/// Measures how much it costs to lower the layers of one operator, then halves of those parts that have to be
/// held; holds the most sensitive layers, as few as meet the goal; then leaves out those of them that are not
/// needed. The last builds are timed as the configuration says, and the answer is right for these. The
/// iterations' check must be an EngineCheck with the same goal. Throws Error (kInvalidArgument) where no
/// layer can be lowered, float32 does not meet the goal, or nothing can be built.
PrecisionResult search_precision(EngineSearch& search, const PrecisionOptions& options,
                                 SearchObserver& observer);

}  // namespace assay::debug
