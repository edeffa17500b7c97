// What is done to weights, while it is done.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/sparsity.h"

namespace assay {

/// Whatever it does not override is passed over.
class WeightObserver : public SparsityObserver {
 public:
  /// The weights that can be pruned, and those that cannot.
  virtual void on_prunable(const SparsityTargets&) {}
  virtual void on_prune_begin(size_t /*weights*/) {}
  /// Before it is done; counted from 1.
  virtual void on_prune(size_t /*number*/, size_t /*weights*/, const Value&) {}
  virtual void on_prune_end(size_t /*weights*/) {}

  virtual void on_strip_begin() {}
  virtual void on_strip(const Value&) {}
  /// Names of weights to keep that no constant has, as a list in Python's form, with hints at what was meant.
  virtual void on_unknown_names(const std::string& /*names*/, const std::string& /*hints*/) {}
  /// No weight was found; these are the products that were looked at.
  virtual void on_nothing_to_strip(std::span<const std::string_view> /*products*/) {}
  virtual void on_strip_end(size_t /*weights*/) {}

  virtual void on_reconstruct_begin() {}
  virtual void on_reconstruct(const Value&) {}
  /// All have values; those that were sparse are going to be pruned.
  virtual void on_reconstructed() {}
  virtual void on_reconstruct_end(int64_t /*weights*/) {}
};

}  // namespace assay
