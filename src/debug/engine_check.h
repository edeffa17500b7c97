// Checks of engines in this process: accuracy against the float64 reference, or the verdict, and whether
// results are the same from run to run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/arbiter.h"
#include "assay/runtime.h"
#include "debug/accuracy_goal.h"
#include "debug/observer.h"
#include "run/loader_cache.h"

namespace assay::debug {

struct EngineCheckOptions {
  /// The model that engines are built from, with its types and shapes.
  std::shared_ptr<const Model> model;
  int runs = 1;                ///< on each set of inputs
  double timeout_seconds = 0;  ///< for the build and all runs; 0: no limit
  /// How exact results must be. None: the verdict says whether they are wrong.
  std::optional<AccuracyGoal> goal = {};
  /// For the verdict: what engines were asked to compute in.
  NarrowTypes asked = {};
};

/// Builds and runs an engine in a child process. Its answers: a pass; a failure that names the output, or
/// says how the child died, with what was measured; flaky, where results differ between runs; a time-out;
/// where the engine cannot be built, it did not run.
class EngineCheck final : public Check {
 public:
  EngineCheck(EngineCheckOptions options, LoaderCache data);

  /// Sets how the next check() builds its engine.
  void take(std::function<std::shared_ptr<Engine>()> build) { build_ = std::move(build); }
  Answer check(const std::string& candidate, SearchObserver& observer) override;
  std::unique_ptr<CheckRun> begin(const CheckFiles& files) override;
  void require_own_files(const CheckFiles&) const override {}
  /// Each of so many that run side by side gets its part of the memory.
  void set_jobs(int jobs) { jobs_ = jobs; }

 private:
  struct Findings {
    Accuracy accuracy;
    std::string flaky, wrong;  ///< sentences; empty: nothing is
    double seconds = 0;        ///< of the fastest run of each set of inputs, added up
  };
  /// Once for all engines.
  void prepare();
  std::string build_and_judge(const std::function<std::shared_ptr<Engine>()>& build) const;
  Answer judge(Engine& engine) const;
  void run_on(ExecutionContext& context, int64_t iteration, Findings& found) const;
  std::string verdict(int64_t iteration, const std::vector<Tensor>& outputs) const;
  TensorList named_outputs(const std::vector<Tensor>& outputs) const;

  EngineCheckOptions options_;
  LoaderCache data_;
  std::function<std::shared_ptr<Engine>()> build_;
  bool is_prepared_ = false;
  int jobs_ = 1;
  std::vector<std::vector<Tensor>> exact_;  ///< outputs of the reference, by iteration
};

}  // namespace assay::debug
