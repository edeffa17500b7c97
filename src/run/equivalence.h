// Evidence that a changed model is equivalent to the original.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/arbiter.h"
#include "assay/graph.h"
#include "run/data_loader.h"

namespace assay {

/// Observes each trial, and the arbiter's verdict on a difference.
class EquivalenceObserver {
 public:
  virtual ~EquivalenceObserver() = default;
  /// `kind` of data, on these shapes; counted from 1.
  virtual void on_trial(int number, const std::string& shapes, std::string_view kind, size_t outputs) {
    (void)number, (void)shapes, (void)kind, (void)outputs;
  }
  /// Every element of every output of the trial is the original's.
  virtual void on_identical() {}
  virtual void on_verdict(const Arbitration&) {}
};

struct EquivalenceOptions {
  /// Seed, ranges and shapes of the data. Open extents are tried with several sizes; an input with a given
  /// range is drawn from it in every trial.
  DataLoaderOptions data;
  /// Loaded inputs: each list is a trial of its own, before those with generated data. A missing input is an
  /// error.
  std::vector<TensorList> loaded;
  int trials = 30;      ///< with generated data, other data each, and other sizes where there are open ones
  double seconds = 20;  ///< no further trial is begun after this time, except the first two
  /// Steps (ops/work.h) that one evaluation may take.
  int64_t max_work = INT64_MAX;
  EquivalenceObserver* observer = nullptr;  ///< null: none
};

/// The result of a search for a counterexample.
struct Equivalence {
  /// The counterexample; empty when all trials agree.
  std::string difference;
  TensorList feed;  ///< the data that show it
  std::string output;
  int64_t at = -1;  ///< its worst element
  double original = 0, changed = 0;
  int trials = 0;  ///< number of trials done
  double seconds = 0;
  /// Elements that were not judged, because the original itself is undetermined there: its result is NaN, or
  /// an intermediate leaves the range of its declared type.
  int64_t open = 0, elements = 0;
  /// Kinds of data without a successful trial, with reasons.
  std::vector<std::pair<std::string, std::string>> not_done;
  std::string refused;      ///< without any trial: the original's error
  bool is_unknown = false;  ///< the original cannot be evaluated on any data
};

/// Searches data on which the changed model differs from the original: numbers of both signs,
/// near the constants of the models, large, tiny and special ones, on several shapes where extents are open.
/// Both are evaluated in float64 and as their declared types round. Every output must be the original's exact
/// value, or differ from it by no more than rounding of the declared types explains, as the arbiter judges
/// it; it must not overflow where the original does not, nor round differently where the original relies on a
/// rounding. Data that the original refuses are ignored and replaced by more ordinary ones.
Equivalence compare_models(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                           const EquivalenceOptions& options);

/// The difference that compare_models() finds. Throws Error (kUnsupported) when no trial could be done, with
/// the options that would help.
std::string find_difference(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                            const EquivalenceOptions& options);

/// The message when no trial could be done.
Error no_trial_error(const Model& original, const Equivalence& comparison);

}  // namespace assay
