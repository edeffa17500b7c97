// Where an error begins: what seems wrong runs again and shows more.
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

/// Runs runners again that seem wrong: with every layer marked, where only outputs are known; and where a
/// node with bodies (If, Loop, Scan) seems to make the error, with what its bodies compute. Where the error
/// goes away when all is marked, as much is marked as may be while it stays.
class Tracer {
 public:
  /// `names` are those of the options' runners in their results. What is given by reference outlives it.
  /// No observer sees these runs: what they give is not what was asked for, and hundreds of lines of it.
  Tracer(const RunOptions& options, std::vector<std::string> names, TensorStore& store)
      : options_(options), names_(std::move(names)), store_(store) {}

  /// What a runner's engine was built to compute in; null: as the model says.
  const NarrowTypes* asked_of(const std::string& runner) const;
  /// Whether it would run this runner again.
  bool can_mark(const std::string& runner) const;
  /// Adds what it finds to the verdict on an iteration, which was fed `data` and gave `results`. What cannot
  /// be traced is said in the log.
  void trace(Arbitration& judged, const TensorList& data, const std::vector<IterationResult>& results);

 private:
  bool is_possible() const;
  /// An engine that is as the model says is built once.
  bool may_open(size_t runner) const;
  using Results = std::vector<IterationResult>;

  /// Runs those that seem wrong again as they ran, a few times, and says which of them give something else
  /// then: no node is to blame for that.
  void repeat(Arbitration& judged, const TensorList& data, const std::vector<IterationResult>& results);
  void mark_layers(Arbitration& judged, LoaderCache& cache);
  /// Narrows down where a runner errs that does not when every layer is marked.
  void find_fused(Arbitration& judged, const std::shared_ptr<const Model>& model, size_t runner,
                  LoaderCache& cache);
  void open_bodies_of(Arbitration& judged, LoaderCache& cache);
  /// The runners for which `seems_wrong` holds of some verdict, counted in the options' list.
  template <typename Predicate>
  std::vector<size_t> runners_with(const Arbitration& judged, Predicate seems_wrong) const;
  /// What these runners give for the one iteration of `cache`.
  Results run(const std::vector<size_t>& runners, ModelLoader& loader, LoaderCache& cache);
  std::vector<ArbiterCase> cases_of(const std::vector<size_t>& runners, const Results& results) const;
  std::vector<std::string> names_of(const std::vector<size_t>& runners) const;
  ModelLoaderOptions marked() const;

  const RunOptions& options_;
  const std::vector<std::string> names_;
  TensorStore& store_;
};

}  // namespace assay
