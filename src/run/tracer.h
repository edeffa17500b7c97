// Where an error begins: what seems wrong runs again and shows more.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "run/comparator.h"
#include "run/loader_cache.h"
#include "run/results.h"
#include "tensor/tensor_store.h"

namespace assay {

/// Runs runners again that seem wrong: with every layer marked, where only outputs are known; and where a
/// node with bodies (If, Loop, Scan) seems to make the error, with what its bodies compute. Where the error
/// goes away when all is marked, as much is marked as may be while it stays.
class Tracer {
 public:
  /// `names` are those of the options' runners in their results. All of them outlive it.
  Tracer(const RunOptions& options, const std::vector<std::string>& names, LoaderCache& cache, TensorStore& store)
      : options_(options), names_(names), cache_(cache), store_(store) {}

  /// Adds what it finds to the verdict on an iteration. What cannot be traced is said in the log.
  void trace(Arbitration& judged, int64_t iteration);

 private:
  using Results = std::vector<std::vector<IterationResult>>;

  void mark_layers(Arbitration& judged, int64_t iteration);
  /// Narrows down where a runner errs that does not when every layer is marked.
  void find_fused(Arbitration& judged, const std::shared_ptr<const Model>& model, size_t runner,
                  int64_t iteration);
  void open_bodies_of(Arbitration& judged, int64_t iteration);
  /// The runners for which `seems_wrong` holds of some verdict, counted in the options' list.
  template <typename Predicate>
  std::vector<size_t> runners_with(const Arbitration& judged, Predicate seems_wrong) const;
  /// All iterations of these runners.
  Results run(const std::vector<size_t>& runners, ModelLoader& loader);
  std::vector<ArbiterCase> cases_of(const std::vector<size_t>& runners, const Results& results, int64_t iteration) const;
  std::vector<std::string> names_of(const std::vector<size_t>& runners) const;
  ModelLoaderOptions marked() const;

  const RunOptions& options_;
  const std::vector<std::string>& names_;
  LoaderCache& cache_;
  TensorStore& store_;
};

}  // namespace assay
