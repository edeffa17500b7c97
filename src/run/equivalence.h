// Evidence that a changed model computes what the original does.
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

/// Told of each trial, and of what the arbiter says of a difference.
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
  /// Seed, ranges and shapes of the data. Extents that stay open are tried with several sizes; an input for
  /// which a range is given is drawn from that in every trial.
  DataLoaderOptions data;
  /// Loaded inputs: each list is a trial of its own, before those with generated data. What a list lacks is
  /// an error.
  std::vector<TensorList> loaded;
  int trials = 30;      ///< with generated data, other data each, and other sizes where there are open ones
  double seconds = 20;  ///< no further trial is begun after so long, but for the first two
  /// Steps (ops/work.h) that one evaluation may take.
  int64_t max_work = INT64_MAX;
  EquivalenceObserver* observer = nullptr;  ///< null: nobody watches
};

/// What a search for a counterexample came to.
struct Equivalence {
  /// What stands against the change; empty when all trials agree.
  std::string difference;
  TensorList feed;  ///< the data that show it
  std::string output;
  int64_t at = -1;  ///< its worst element
  double original = 0, changed = 0;
  int trials = 0;  ///< that were done
  double seconds = 0;
  /// Elements that were left open, because the original itself is not determined there: its result is NaN, or
  /// leaves the range of its declared types on the way.
  int64_t open = 0, elements = 0;
  /// Kinds of data that no trial could be done with, and why.
  std::vector<std::pair<std::string, std::string>> not_done;
  std::string refused;      ///< with no trial done: what the original said to data
  bool is_unknown = false;  ///< the original cannot be evaluated whatever the data are
};

/// Looks for data on which the changed model gives something else than the original: numbers of both signs,
/// near the constants of the models, large, tiny and special ones, on several shapes where extents are open.
/// Both are evaluated in float64 and as their declared types round. Every output must be the original's exact
/// value, or differ from it by no more than rounding of the declared types explains, as the arbiter judges
/// it; it must not overflow where the original does not, nor come out of another rounding where the original
/// is made for one. Data that the original refuses count for nothing and are replaced by tamer ones.
Equivalence compare_models(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                           const EquivalenceOptions& options);

/// The difference that compare_models() finds. Throws Error (kUnsupported) when no trial could be done, with
/// the options that would help.
std::string find_difference(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                            const EquivalenceOptions& options);

/// What to say when no trial could be done.
Error no_trial_error(const Model& original, const Equivalence& comparison);

}  // namespace assay
