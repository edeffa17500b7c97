// Files of accuracy results: of each comparison function, for each output in each iteration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/results.h"

namespace assay {

/// One function. A result without metrics is a bare verdict: of `indices`, of a custom function, or of
/// outputs of different shapes.
struct SavedAccuracy {
  CompareFunction function = CompareFunction::kCustom;
  Aggregation aggregation = Aggregation::kPerSample;
  struct Pair {
    std::string runner0, runner1;
    std::vector<std::vector<OutputResult>> iterations;
  };
  std::vector<Pair> pairs;

  /// The names of its results' metrics, as in the file; empty for bare verdicts only.
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
/// Throws Error: kNotFound, kIo, or kInvalidArgument with the error and its position.
AccuracyResults load_accuracy_results(const std::string& path);
/// True when a file declares itself as accuracy results. Throws Error as above when it is not JSON.
bool holds_accuracy_results(const std::string& path);

}  // namespace assay
