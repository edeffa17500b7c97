// Timed runs of a whole network: measures each step in the context of the others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"
#include "engine/target/target.h"

namespace assay::engine {

/// A plan's kernels on separate memory, with data similar to activations. Steps on whole tensors (bodies of
/// control flow, parts that wait for shapes, the reference evaluator) are skipped, because they do not depend
/// on the choices. Not thread-safe.
class Rehearsal {
 public:
  /// `target` outlives it. Kernels run on the threads of `pool`; null: on the caller's. Throws Error when
  /// memory is short or a tactic refuses its step.
  Rehearsal(const Target& target, std::shared_ptr<const Plan> plan, const KernelLookup& lookup,
            std::shared_ptr<ThreadPool> pool);
  ~Rehearsal();

  /// Runs all steps. False when one of them failed.
  bool run(bool counts);
  size_t runs() const { return totals_.size(); }
  /// Seconds of all timed runs.
  double spent() const { return spent_; }
  /// Seconds of a run: the lower quartile, because other processes can only add time.
  double seconds() const;
  /// seconds() of one step.
  double step_seconds(size_t step) const;

 private:
  struct Memory;
  struct Call;
  const Target& target_;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<ThreadPool> pool_;
  std::unique_ptr<Memory> memory_;
  std::vector<Call> calls_;
  std::vector<double> totals_;
  double spent_ = 0;
};

/// Data similar to activations: small, of both signs, without denormals. Integers and bools are 0, a valid
/// index.
void fill_with_activations(void* data, DType dtype, size_t bytes);

/// The lower quartile.
double lower_quartile(std::vector<double> samples);

}  // namespace assay::engine
