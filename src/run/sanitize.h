// The steps of `surgeon sanitize`, in order, and the proof of equivalence.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/fold.h"
#include "assay/graph.h"
#include "passes/pass_set.h"
#include "run/loader_cache.h"
#include "run/proven_model.h"
#include "surgeon/upper_bound.h"
#include "transform/simplify.h"

namespace assay {

/// sanitize.cpp carries them out in this order; Sanitizer::run() there is the list of steps.
struct SanitizeOptions {
  /// The model's new outputs: all tensors, these (any selectors), those of nodes with these operators; less
  /// those of `exclude_outputs`. None of them: its own.
  bool marks_all = false;
  std::optional<std::vector<std::string>> outputs = {};
  std::vector<std::string> output_types = {};
  std::optional<std::vector<std::string>> exclude_outputs = {};
  std::optional<UpperBounds> bounds = {};
  /// New shapes for inputs; a tensor that is not an input becomes one.
  std::vector<std::pair<std::string, Dims>> input_shapes = {};
  /// Creates data on which types and shapes are observed; empty: no observation.
  std::function<LoaderCache()> observed_data = {};
  bool cleans = false;
  bool sorts = false;
  bool infers = true;  ///< shapes, before and after
  bool folds = false;  ///< constants
  FoldOptions fold = {};
  int64_t max_folds = std::numeric_limits<int64_t>::max();  ///< rounds, each over all constants
  bool infers_between_folds = true;
  /// Runs the passes of PassStage::kSimplify until nothing changes; null set: the built-in ones.
  bool simplifies = false;
  std::shared_ptr<const PassSet> passes = {};
  bool keeps_source_notes = false;  ///< doc strings and metadata of nodes, which simplifying removes
  /// Returns the options of a proof, for the original model; empty: no proof.
  std::function<EquivalenceOptions(const Model& original)> proof = {};
};

/// A model's size.
struct ModelCensus {
  int64_t nodes = 0;
  size_t bytes = 0;                          ///< of the file
  std::map<std::string, int64_t> operators;  ///< nodes by operator

  explicit ModelCensus(const Model& model);
};

struct FoldTotals {
  int64_t folded = 0, flattened = 0, casts = 0;
};

/// Observes each step. With a proof the model may be edited several times.
class SanitizeObserver {
 public:
  virtual ~SanitizeObserver() = default;
  virtual void on_bounds(const UpperBounds&) {}
  /// The model with its outputs and bounds, inferred, before it is changed further.
  virtual void on_begin(const Model&) {}
  virtual void on_input_shapes(const Model&) {}
  /// Initializers that are no longer listed among the inputs.
  virtual void on_settled(int64_t) {}
  /// Initializers that a caller may replace, which are not treated as constants.
  virtual void on_replaceable(int64_t) {}
  virtual void on_fold_begin(int64_t pass) { (void)pass; }
  virtual void on_fold_end(int64_t nodes_before, int64_t nodes_after) {
    (void)nodes_before, (void)nodes_after;
  }
  /// Once for each node.
  virtual void on_too_large(const FoldReport::Kept&) {}
  virtual void on_not_folded(const FoldReport::Kept&) {}
  virtual void on_simplified(const PassReport&) {}
  virtual void on_source_notes_removed(int64_t bytes) { (void)bytes; }
  virtual void on_proof_begin() {}
  /// `proven.model` is null if no edited model agrees. The censuses are of the original and of the proved
  /// model.
  virtual void on_proof_end(const ProvenModel& proven, const EditProof& proof) { (void)proven, (void)proof; }
  /// With a proof only.
  virtual void on_changes(const ModelCensus& before, const ModelCensus& after, const FoldTotals& totals) {
    (void)before, (void)after, (void)totals;
  }
};

/// Edits the model, or with a proof creates an edited one; returns the result, or null if no edited model
/// agrees. Throws Error naming the node or tensor.
std::shared_ptr<Model> sanitize(const std::shared_ptr<Model>& model, const SanitizeOptions& options,
                                SanitizeObserver& observer);

}  // namespace assay
