// Runs of a whole network for the clock's sake: what each step takes with the others around it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"
#include "engine/target/target.h"

namespace assay::engine {

/// A plan's kernels on memory of their own, with numbers as activations have them. Steps on whole tensors
/// (bodies of control flow, parts that wait for shapes, plain evaluation) are left out: they run alike
/// whatever is chosen around them. Not thread-safe.
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
  /// Seconds of all runs that counted.
  double spent() const { return spent_; }
  /// Seconds of a run: the lower quartile, as others on the machine only ever add time.
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

/// Numbers as activations have them: small, of both signs, none denormal. Integers and bools are 0, which
/// every index may be.
void fill_with_activations(void* data, DType dtype, size_t bytes);

/// The lower quartile.
double lower_quartile(std::vector<double> samples);

}  // namespace assay::engine
