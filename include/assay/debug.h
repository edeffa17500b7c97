// Searches in a network for the cause of a failure, as `assay debug` has them: networks are seen layer by
// layer, as they run, and models that fail are reduced. Reports are JSON, of which docs/guide/debugging.md
// says what its members mean.
//
//   const std::string report = poly::find_non_finite({.model = load_model("m.onnx")}, {.iterations = 3});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/dtype.h"
#include "assay/graph.h"
#include "assay/run_settings.h"

namespace ASSAY_API assay {
namespace poly {

/// A model on a backend that gives every tensor. Local functions are inlined for that.
struct LayeredRun {
  std::shared_ptr<const Model> model;
  std::string backend = "reference";
  SessionOptions session = {};
};

/// Where NaN and infinities come from, why, and whether they reach an output: `origins`, and the tensor of
/// the first of them that a node made, `cause`. Throws Error for a model or data that cannot be run, and
/// (kInvalidArgument) without data.
std::string find_non_finite(const LayeredRun& run, const RunData& data);

/// The numbers of each tensor against the limits of types of at most 16 bits and of int8: `tensors`, the
/// worst for the first of `types` first. `weights`: of constants, too. Throws Error as find_non_finite(), and
/// (kInvalidArgument) for other types.
std::string measure_ranges(const LayeredRun& run, const RunData& data, const std::vector<DType>& types,
                           bool weights = true);

/// An element may differ by atol + rtol * |second|. Without both: by a share of the tensor's largest number,
/// 1e-4 for float32, 1e-2 for float16.
struct DivergenceSettings {
  std::optional<double> atol = {}, rtol = {};
  /// Tensors that only one of two models has are looked for among the other's by their values.
  bool matches_values = true;
};

/// The first tensors that differ although what they are made of agrees: `divergences`, in the order of the
/// first model. The two models may be the same one, or one before and after an edit. Throws Error as
/// find_non_finite(), and (kInvalidArgument) for two that have nothing in common.
std::string find_divergence(const LayeredRun& first, const LayeredRun& second, const RunData& data,
                            const DivergenceSettings& settings = {});

/// Nothing for a model that passes; else how it fails, in words that are the same for the same failure.
using FailureCheck = std::function<std::optional<std::string>(const std::shared_ptr<Model>& candidate)>;

struct ReduceSettings {
  RunShapes shapes = {};     ///< that the model's inputs get
  RunData data = {};         ///< for values that the reduction has to know
  bool any_failure = false;  ///< every failure counts, not only that of the whole model
  int repeat = 1;            ///< checks of each candidate, where the failure comes and goes
  /// Generated names and random weights in place of the model's own, as far as it still fails.
  bool anonymises = false;
};

struct Reduced {
  std::shared_ptr<Model> model;  ///< the smallest one that was found
  std::string failure;           ///< of the whole model
  int64_t nodes = 0;             ///< of the whole model
  int64_t checks = 0;
  /// The result passed when it was checked once more, or in some of those runs.
  bool is_flaky = false;
  bool has_own_names = true;  ///< after anonymising
  int64_t own_weights = 0;    ///< the same
};

/// The smallest part of a model that fails in the same way as the whole: any nodes, by delta debugging, then
/// bodies, outputs, attributes and extents. What the check throws ends the search. Throws Error
/// (kInvalidArgument) where the whole model passes.
Reduced reduce_model(const std::shared_ptr<Model>& model, const FailureCheck& check,
                     const ReduceSettings& settings = {});

/// A check that goes on elsewhere: in a thread, in a process, on another machine.
class PendingCheck {
 public:
  virtual ~PendingCheck() = default;  ///< gives it up
  /// Does not wait.
  virtual bool has_ended() = 0;
  /// Of one that has ended, as FailureCheck says it. What it throws ends the search.
  virtual std::optional<std::string> failure() = 0;
};
/// Begins the check of a candidate, in the thread of the search.
using CheckStart = std::function<std::unique_ptr<PendingCheck>(const std::shared_ptr<Model>& candidate)>;

/// The same result, from checks side by side: `jobs` at a time of those that the search expects to need.
Reduced reduce_model(const std::shared_ptr<Model>& model, const CheckStart& start, int jobs,
                     const ReduceSettings& settings = {});

}  // namespace poly
}  // namespace assay
