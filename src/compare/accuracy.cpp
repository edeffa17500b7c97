#include "compare/accuracy.h"

#include "assay/error.h"

namespace assay {

void AccuracyComparison::choose_pairs(std::span<const std::shared_ptr<const OutputSource>> runners) {
  if (options_.pairs.empty())
    for (size_t i = 1; i < runners.size(); ++i) options_.pairs.emplace_back(i - 1, i);
  for (const auto& [i, j] : options_.pairs) {
    require(i < runners.size() && j < runners.size(), ErrorCode::kInvalidArgument,
            "cannot compare results {} and {}: there are {}", i, j, runners.size());
    pairs_.emplace_back(runners[i]->runner_name(), runners[j]->runner_name());
    observer_.on_pair(runners[i]->runner_name(), runners[j]->runner_name());
  }
}

bool AccuracyComparison::add(std::span<const std::shared_ptr<const OutputSource>> runners) {
  if (iterations_ == 0) choose_pairs(runners);
  observer_.on_iteration(iterations_++);
  for (size_t p = 0; p < pairs_.size(); ++p) {
    const auto& [i, j] = options_.pairs[p];
    const PairResult result =
        compare_iteration(options_.functions, *runners[i], *runners[j], options_.compare, observer_);
    pairs_[p].add(result);
    if (options_.keep) options_.keep(p, result);
    observer_.on_pair_result(p, result);
    if (options_.compare.fail_fast && !result.passed()) return false;
  }
  return true;
}

std::vector<PairSummary> AccuracyComparison::summaries() const {
  std::vector<PairSummary> list;
  for (const PairAccumulator& pair : pairs_) list.push_back(pair.summary());
  return list;
}

}  // namespace assay
