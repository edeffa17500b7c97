// How far the results of runners agree: what comparisons (assay/comparator.h) give.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/api.h"

namespace ASSAY_API assay {
namespace poly {

/// One output of two runners under one function, over all iterations.
struct OutputAccuracy {
  std::string output, function;
  int64_t iterations = 0, passed = 0;
  /// Means over the iterations: max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff,
  /// median_reldiff of simple; "metric" of functions with one number.
  std::map<std::string, double> metrics = {};
};

/// Two runners.
struct PairAccuracy {
  std::string runner0, runner1;
  int64_t iterations = 0, passed = 0;
  std::vector<OutputAccuracy> outputs = {};
  double percentage() const {
    return iterations == 0 ? 0 : 100.0 * static_cast<double>(passed) / static_cast<double>(iterations);
  }
};

struct AccuracyResult {
  std::vector<PairAccuracy> pairs = {};
  /// Every iteration of every pair passed, and there was one.
  explicit operator bool() const;
};

}  // namespace poly
}  // namespace assay
