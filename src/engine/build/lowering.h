// From choices to the steps of a plan.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "assay/graph.h"
#include "engine/build/memory_planner.h"
#include "engine/build/selector.h"

namespace assay::engine {

/// Constants that steps have made of a model's (packed weights), shared by the plans that use them. What no
/// plan uses any more is forgotten: a model that runs with ever new shapes keeps no more than its last plans
/// do.
class ConstantCache {
 public:
  /// What was made of `source` in this way before, where somebody still has it; else what `make` gives now.
  Tensor get(const UnalignedTensor& source, const std::string& packing, const std::function<Tensor()>& make);
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

/// Writes the steps down, in order. Values have no places yet. `make_constants` false: constants have no
/// data.
LoweredPlan lower_choices(const Model& model, OptionMaker& maker, std::span<const Choice> choices,
                          int threads, ConstantCache& cache, bool make_constants);

}  // namespace assay::engine
