// Lowers choices to the steps of a plan.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "assay/graph.h"
#include "engine/planner/memory_planner.h"
#include "engine/planner/selector.h"

namespace assay::engine {

/// Constants derived from a model's by steps (packed weights), shared by
/// the plans that use them. Unused ones are released, so that a model
/// that runs with many shapes keeps only those of its latest plans.
class ConstantCache {
 public:
  /// The existing constant made from `source` with this packing, if still in use; else the result of `make`.
  Tensor get(const UnalignedTensor& source, const std::string& packing, const std::function<Tensor()>& make);
  /// Releases a source whose address may be reused.
  void release(const void* source);
  /// Numbers of entries in use, and of all entries.
  size_t size() const;

 private:
  struct Entry {
    /// Keeps the source's storage, so that its address
    /// stays unique for the lifetime of the entry.
    UnalignedTensor source;
    std::weak_ptr<const Tensor> made;
  };
  void forget_unused();

  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, Entry> entries_;
  size_t limit_ = 16;
};

/// Treatment of constants.
struct ConstantUse {
  bool has_data = true;  ///< false: the plan's constants have no data
  /// The model and the choices are not used afterwards: a constant is released after its last use, and a
  /// choice when it is lowered.
  bool takes = false;
};

/// Writes the steps in order. Values have no memory yet.
LoweredPlan lower_choices(Model& model, OptionMaker& maker, std::span<Choice> choices, int threads,
                          ConstantCache& cache, ConstantUse use = {});

}  // namespace assay::engine
