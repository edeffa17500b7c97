#include "poly/accuracy.h"

#include <algorithm>

namespace assay::poly {
namespace {

std::map<std::string, double> metrics_of(const Metrics& metrics) {
  if (const auto* number = std::get_if<double>(&metrics)) return {{"metric", *number}};
  if (const auto* m = std::get_if<SimpleMetrics>(&metrics))
    return {{"max_absdiff", m->max_absdiff},       {"max_reldiff", m->max_reldiff},
            {"mean_absdiff", m->mean_absdiff},     {"mean_reldiff", m->mean_reldiff},
            {"median_absdiff", m->median_absdiff}, {"median_reldiff", m->median_reldiff}};
  return {};
}

}  // namespace

AccuracyResult::operator bool() const {
  return !pairs.empty() && std::all_of(pairs.begin(), pairs.end(), [](const PairAccuracy& p) {
    return p.iterations > 0 && p.passed == p.iterations;
  });
}

AccuracyResult accuracy_of(const std::vector<PairSummary>& summaries) {
  AccuracyResult all;
  for (const PairSummary& s : summaries) {
    PairAccuracy& pair = all.pairs.emplace_back(PairAccuracy{.runner0 = s.runner0,
                                                             .runner1 = s.runner1,
                                                             .iterations = s.iterations,
                                                             .passed = s.passed_iterations});
    for (const FunctionSummary& f : s.functions)
      for (const OutputSummary& o : f.outputs)
        pair.outputs.push_back({.output = o.output,
                                .function = f.label,
                                .iterations = o.iterations,
                                .passed = o.passed,
                                .metrics = metrics_of(o.mean)});
  }
  return all;
}

}  // namespace assay::poly
