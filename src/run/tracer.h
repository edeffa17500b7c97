// Locates the origin of an error by running suspected runners again with more outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "run/loader_cache.h"
#include "run/results.h"
#include "run/run_options.h"
#include "tensor/tensor_store.h"

namespace assay {

/// Runs suspected runners again: with every layer marked, where only outputs are known; and if a node with
/// bodies (If, Loop, Scan) seems to be the origin, with the values of its bodies. If the error disappears
/// with all marks, the largest set of marks that preserves it is used.
class Tracer {
 public:
  /// `names` are those of the options' runners in their results. References must outlive it. Observers do not
  /// see these runs, whose outputs were not requested.
  Tracer(const RunOptions& options, std::vector<std::string> names, TensorStore& store)
      : options_(options), names_(std::move(names)), store_(store) {}

  /// Computation types of a runner's engine; null: those of the model.
  const NarrowTypes* asked_of(const std::string& runner) const;
  /// Whether it would run this runner again.
  bool can_mark(const std::string& runner) const;
  /// Adds its findings to the verdict on an iteration with
  /// `data` and `results`. Logs what cannot be traced.
  void trace(Arbitration& judged, const TensorList& data, const std::vector<IterationResult>& results);

 private:
  bool is_possible() const;
  /// An engine with the model's own outputs is built once.
  bool may_open(size_t runner) const;
  using Results = std::vector<IterationResult>;

  /// Repeats runs of suspected runners unchanged, a few times, and reports those with varying results, which
  /// no node explains.
  void repeat(Arbitration& judged, const TensorList& data, const std::vector<IterationResult>& results);
  void mark_layers(Arbitration& judged, LoaderCache& cache);
  /// Narrows down where a runner errs that does not when every layer is marked.
  void find_fused(Arbitration& judged, const std::shared_ptr<const Model>& model, size_t runner,
                  LoaderCache& cache);
  void open_bodies_of(Arbitration& judged, LoaderCache& cache);
  /// The runners for which `seems_wrong` holds of some verdict, counted in the options' list.
  template <typename Predicate>
  std::vector<size_t> runners_with(const Arbitration& judged, Predicate seems_wrong) const;
  /// Results of these runners for the one iteration of `cache`.
  Results run(const std::vector<size_t>& runners, ModelLoader& loader, LoaderCache& cache);
  std::vector<ArbiterCase> cases_of(const std::vector<size_t>& runners, const Results& results) const;
  std::vector<std::string> names_of(const std::vector<size_t>& runners) const;
  ModelLoaderOptions marked() const;

  const RunOptions& options_;
  const std::vector<std::string> names_;
  TensorStore& store_;
};

}  // namespace assay
