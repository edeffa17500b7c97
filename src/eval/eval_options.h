// The options of an evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluation.h"
#include "eval/metric.h"
#include "eval/sample_set.h"
#include "eval/shard.h"
#include "run/run_options.h"
#include "script/metric_script.h"

namespace assay::eval {

/// Where results go while they are made.
struct Saving {
  std::string path;  ///< of the result; empty: nowhere
  /// Continues from the samples that an interrupted evaluation has saved.
  bool resume = false;
  /// Between two times that what is finished is saved, next to the result.
  double seconds = 10;
};

struct EvalOptions {
  RunOptions run;  ///< runners, model and session
  std::shared_ptr<SampleSet> samples;
  std::optional<Labels> labels;
  std::string label_array;      ///< of the data, in place of a file; empty: none
  std::vector<Metric> metrics;  ///< empty: by what there is to compare with
  std::vector<std::shared_ptr<script::MetricScript>> functions;
  /// The backend that others are compared with; empty: the first.
  std::string golden;
  bool golden_is_exact = false;  ///< float64 in its place
  size_t worst = 10;             ///< samples in each ranking
  size_t judged_worst = 0;       ///< of each ranking, those that the float64 reference judges
  std::string save_worst;        ///< folder for the inputs of ranked samples; empty: they are not saved
  std::optional<int64_t> most_samples;
  Shard shard;
  /// The number of a stream's first sample, and whether others follow those that it gives: a piece of a
  /// stream.
  int64_t first_sample = 0;
  bool is_piece = false;
  std::optional<Ranges> only;  ///< in place of the shard
  bool skips_bad_samples = false;
  bool measures_times = false;
  Saving saving;
  /// Further settings that determine the results: they are part of the identity.
  Entries identity;
};

/// The names of the backends, by which rows are called: onnxrt, engine, engine#2.
std::vector<std::string> backend_names(const std::vector<RunnerChoice>& runners);

}  // namespace assay::eval
