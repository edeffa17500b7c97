// Accuracy results as files: what each comparison function found for each output in each iteration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/results.h"

namespace assay {

/// One function. A result without metrics is a bare verdict: of `indices`, of a function of the user's own,
/// or of outputs of different shapes.
struct SavedAccuracy {
  CompareFunction function = CompareFunction::kCustom;
  Aggregation aggregation = Aggregation::kPerSample;
  struct Pair {
    std::string runner0, runner1;
    std::vector<std::vector<OutputResult>> iterations;
  };
  std::vector<Pair> pairs;

  /// The names of the metrics that its results hold, as the file has them; empty for bare verdicts alone.
  std::vector<std::string> metric_fields() const;
};
using AccuracyResults = std::vector<SavedAccuracy>;

/// Names of the metrics of a function: max_absdiff, ..., l2_norm, ...; none for kIndices and kCustom.
std::vector<std::string> metric_fields(CompareFunction function);
/// The values of a result's metrics by name, those that it has.
std::vector<std::pair<std::string, double>> metric_values(CompareFunction function,
                                                          const OutputResult& result);

/// The file appears whole or not at all. Throws Error (kIo).
void save_accuracy_results(const AccuracyResults& results, const std::string& path);
/// Throws Error: kNotFound, kIo, or kInvalidArgument that says what is wrong and where.
AccuracyResults load_accuracy_results(const std::string& path);
/// Whether a file says that it holds accuracy results. Throws Error as above when it is no JSON.
bool holds_accuracy_results(const std::string& path);

}  // namespace assay
