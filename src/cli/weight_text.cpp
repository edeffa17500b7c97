#include "cli/weight_text.h"

#include <fmt/ranges.h>

#include "base/log.h"
#include "base/wording.h"

namespace assay::cli {

void WeightText::on_prunable(const SparsityTargets& targets) {
  using Skipped = SparsityTargets::Skipped;
  log::verbose("Walking graph to collect weights candidates.");
  for (const SparsityTargets::Unreached& u : targets.unreached)
    log::warning("({}) produced by {} type: {} is unsupported!", u.factor, u.producer, u.op_type);
  log::verbose("Collected {} weights candidates.", targets.candidates());
  log::verbose("Skipping tensors that are not eligible for pruning.");
  for (const Skipped& s : targets.skipped) {
    const std::string& name = s.weight->name();
    if (s.why == Skipped::Why::kType)
      log::warning("Skipping tensor: {} due to {}", name, s.reason);
    else if (s.why == Skipped::Why::kMarked || s.why == Skipped::Why::kNoData)
      log::warning("Skipping tensor: {} since {}", name, s.reason);
    else
      log::verbose("Skipping {} since {}.{}", name, s.reason, s.why == Skipped::Why::kNotInFours ? " " : "");
  }
  log::info("Found: {} weight tensor(s) eligible for pruning.", targets.eligible.size());
}

void WeightText::on_targets(const SparsityTargets& targets) {
  on_prunable(targets);
  log::start("Checking the sparsity pattern of {} tensors.", targets.eligible.size());
}

void WeightText::on_checked(const Value& weight, bool is_sparse) {
  if (is_sparse)
    log::info("Found sparse tensor: {}", weight.name());
  else
    log::warning("Found non-sparse tensor: {}", weight.name());
}

void WeightText::on_end(const SparsityTargets& targets) {
  log::finish("Finished checking {} tensors. ", targets.eligible.size());
}

void WeightText::on_prune_begin(size_t weights) { log::start("Pruning {} tensors.", weights); }

void WeightText::on_prune(size_t number, size_t weights, const Value& weight) {
  log::extra_verbose("Pruning tensor {}/{}: {}", number, weights, weight.name());
}

void WeightText::on_prune_end(size_t weights) {
  log::finish("Finished pruning {} tensors. ", weights);
  if (weights > 0) log::info("Replacing weights to build new model object...");
}

void WeightText::on_strip_begin() {
  log::start("Beginning weight stripping...");
  log::warning(
      "The model is expected to be constant folded to successfully capture all weights eligible for "
      "stripping");
  log::info("Querying Sparse Initializers in the model");
}

void WeightText::on_strip(const Value& weight) { log::verbose("Stripping initializer {}", weight.name()); }

void WeightText::on_unknown_names(const std::string& names, const std::string& hints) {
  log::warning(
      "The following weights provided by the user to skip stripping were not found in the model: {{{}}}.{}",
      names, hints);
}

void WeightText::on_nothing_to_strip(std::span<const std::string_view> products) {
  log::warning(
      "Nothing was stripped: no initializer of the main graph that has its data is a weight of a product "
      "({}), or a large operand of another operator that holds weights. {}",
      fmt::join(products, ", "), say(Say::kFoldConstantNodes));
}

void WeightText::on_strip_end(size_t weights) { log::finish("Finished stripping {} weights", weights); }

void WeightText::on_reconstruct_begin() { log::start("Beginning weight reconstruction..."); }

void WeightText::on_reconstruct(const Value& weight) {
  log::verbose("Reconstructing weights for the {} initializer", weight.name());
}

void WeightText::on_reconstructed() { log::info("Calling Sparsity Pruner to prune selected weights"); }

void WeightText::on_reconstruct_end(int64_t weights) {
  log::finish("Finished reconstructing {} weights", weights);
}

}  // namespace assay::cli
