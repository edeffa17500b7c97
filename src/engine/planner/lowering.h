// From choices to the steps of a plan.
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

/// Constants that steps have made of a model's (packed weights), shared by the plans that use them. What no
/// plan uses any more is forgotten: a model that runs with ever new shapes keeps no more than its last plans
/// do.
class ConstantCache {
 public:
  /// What was made of `source` in this way before, where somebody still has it; else what `make` gives now.
  Tensor get(const UnalignedTensor& source, const std::string& packing, const std::function<Tensor()>& make);
  /// Lets go of a source whose address may mean another one soon.
  void release(const void* source);
  /// Entries that somebody has, and those that are not forgotten yet.
  size_t size() const;

 private:
  struct Entry {
    /// Keeps the source's storage, so that its address means it and nothing else for as long as the entry is
    /// there.
    UnalignedTensor source;
    std::weak_ptr<const Tensor> made;
  };
  void forget_unused();

  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, Entry> entries_;
  size_t limit_ = 16;
};

/// What becomes of constants.
struct ConstantUse {
  bool has_data = true;  ///< false: the plan's constants have no data
  /// Nothing else will be made of the model and the choices: a constant goes with its last use, and a choice
  /// when it is written down.
  bool takes = false;
};

/// Writes the steps down, in order. Values have no places yet.
LoweredPlan lower_choices(Model& model, OptionMaker& maker, std::span<Choice> choices, int threads,
                          ConstantCache& cache, ConstantUse use = {});

}  // namespace assay::engine
