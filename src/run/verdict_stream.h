// The float64 verdict on a run, iteration by iteration.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "run/observer.h"
#include "run/results.h"
#include "run/run_options.h"
#include "run/tracer.h"
#include "tensor/tensor_store.h"

namespace assay {

/// Judges all runners of an iteration, traces suspected errors, and counts the verdicts. Its arguments must
/// outlive it.
class VerdictStream {
 public:
  /// `report` has the names of the runners, of which the first `live` ran here; it gets the counts.
  VerdictStream(const RunOptions& options, ModelLoader& loader, RunReport& report, size_t live,
                TensorStore& store, RunObserver& observer);
  /// The model's.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  /// `data` by name. Throws Error when the reference cannot evaluate the model, and for results that do not
  /// belong to the model (unless they may be partial).
  void judge(const std::vector<IterationResult>& results, const TensorList& data, int64_t iteration);
  /// Completes the file of verdicts.
  void finish();

 private:
  RunFiles files(int64_t iteration) const;
  static void doubt_inputs(const std::string& runner, Arbitration& judged);
  /// Of saved results.
  void check(const IterationResult& result, int64_t iteration);

  const RunOptions& options_;
  RunReport& report_;
  size_t live_;
  RunObserver& observer_;
  std::shared_ptr<const Model> model_;
  std::vector<std::string> own_outputs_;
  std::vector<TensorInfo> inputs_;
  Tracer tracer_;
  std::optional<VerdictWriter> writer_;
  std::set<std::string> told_;  ///< runners whose partial results have been reported
};

}  // namespace assay
