// Compares runners with each other, iteration by iteration.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/comparison.h"

namespace assay {

struct AccuracyOptions {
  std::vector<std::shared_ptr<const Comparison>> functions;
  CompareOptions compare;
  /// Pairs of runners to compare, by index in the list of add(); by default each with the next.
  std::vector<std::pair<size_t, size_t>> pairs;
  /// Gets the results of each iteration, which are not kept. May be empty.
  std::function<void(size_t pair, const PairResult& iteration)> keep;
};

/// Compares runners pairwise as their iterations arrive; a duplicate pair counts twice. Keeps only sums of an
/// iteration.
class AccuracyComparison {
 public:
  /// `observer` outlives it.
  AccuracyComparison(AccuracyOptions options, CompareObserver& observer)
      : options_(std::move(options)), observer_(observer) {}

  /// The same iteration of all runners, in the same order every time. False when the comparison should end:
  /// at the first mismatch with fail_fast. Throws Error (kInvalidArgument) for a pair that does not exist,
  /// and as the functions do.
  bool add(std::span<const std::shared_ptr<const OutputSource>> runners);

  /// Empty before the first iteration, and when there are no pairs.
  std::vector<PairSummary> summaries() const;
  int64_t iterations() const { return iterations_; }

 private:
  void choose_pairs(std::span<const std::shared_ptr<const OutputSource>> runners);

  AccuracyOptions options_;
  CompareObserver& observer_;
  int64_t iterations_ = 0;
  std::vector<PairAccumulator> pairs_;
};

}  // namespace assay
