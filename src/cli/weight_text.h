// Changes of weights as lines of the log, in Polygraphy's words.
#pragma once

#include "surgeon/weight_observer.h"

namespace assay::cli {

class WeightText final : public WeightObserver {
 public:
  void on_targets(const SparsityTargets& targets) override;
  void on_checked(const Value& weight, bool is_sparse) override;
  void on_end(const SparsityTargets& targets) override;

  void on_prunable(const SparsityTargets& targets) override;
  void on_prune_begin(size_t weights) override;
  void on_prune(size_t number, size_t weights, const Value& weight) override;
  void on_prune_end(size_t weights) override;

  void on_strip_begin() override;
  void on_strip(const Value& weight) override;
  void on_unknown_names(const std::string& names, const std::string& hints) override;
  void on_nothing_to_strip(std::span<const std::string_view> products) override;
  void on_strip_end(size_t weights) override;

  void on_reconstruct_begin() override;
  void on_reconstruct(const Value& weight) override;
  void on_reconstructed() override;
  void on_reconstruct_end(int64_t weights) override;
};

}  // namespace assay::cli
