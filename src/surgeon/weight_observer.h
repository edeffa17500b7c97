// Observes changes of weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/sparsity.h"

namespace assay {

/// By default events are ignored.
class WeightObserver : public SparsityObserver {
 public:
  /// The weights that can be pruned, and those that cannot.
  virtual void on_prunable(const SparsityTargets&) {}
  virtual void on_prune_begin(size_t /*weights*/) {}
  /// Before the change; counted from 1.
  virtual void on_prune(size_t /*number*/, size_t /*weights*/, const Value&) {}
  virtual void on_prune_end(size_t /*weights*/) {}

  virtual void on_strip_begin() {}
  virtual void on_strip(const Value&) {}
  /// Unknown names of weights to keep, as a Python list, with suggestions.
  virtual void on_unknown_names(const std::string& /*names*/, const std::string& /*hints*/) {}
  /// No weight was found; these are the products that were checked.
  virtual void on_nothing_to_strip(std::span<const std::string_view> /*products*/) {}
  virtual void on_strip_end(size_t /*weights*/) {}

  virtual void on_reconstruct_begin() {}
  virtual void on_reconstruct(const Value&) {}
  /// All have values; formerly sparse ones will be pruned.
  virtual void on_reconstructed() {}
  virtual void on_reconstruct_end(int64_t /*weights*/) {}
};

}  // namespace assay
