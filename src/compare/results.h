// Results of comparisons as plain data: of one output, of one iteration, and over all iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compare/tolerance.h"

namespace assay {

/// The ways to decide whether two outputs agree.
enum class CompareFunction : uint8_t {
  kSimple,            ///< absolute and relative error against tolerances
  kIndices,           ///< positions of indices, such as those of a top-k
  kL2,                ///< Euclidean distance
  kCosineSimilarity,  ///< cosine of the angle between the outputs as vectors
  kPsnr,              ///< peak signal-to-noise ratio, decibels
  kSnr,               ///< signal-to-noise ratio, decibels
  kLpips,             ///< learned perceptual distance of images
  kCustom,            ///< a function of the user's own
};
/// simple, indices, L2 Norm, Cosine Similarity, PSNR, SNR, LPIPS, as in the log; empty for kCustom.
std::string_view compare_function_label(CompareFunction function);

/// The statistic that `simple` compares with its tolerances.
enum class ErrorStat : uint8_t {
  kMax,       ///< the greatest errors
  kMean,      ///< the mean errors
  kMedian,    ///< the median errors
  kElemwise,  ///< each element; it fails when it exceeds both tolerances
  kQuantile,  ///< a quantile of the errors
};
/// max, mean, median, elemwise, quantile.
std::string_view error_stat_name(ErrorStat stat);
std::optional<ErrorStat> error_stat_from_name(std::string_view name);

/// The errors that `simple` measures, |a - b| and |a - b| / |b|, rounded to the type in which they are
/// computed.
struct SimpleMetrics {
  double max_absdiff = 0, max_reldiff = 0;
  double mean_absdiff = 0, mean_reldiff = 0;
  double median_absdiff = 0, median_reldiff = 0;
  /// Only if the quantile is checked.
  std::optional<double> quantile_absdiff, quantile_reldiff;

  /// The statistic; of kElemwise the greatest error. NaN for a quantile that was not computed.
  double absolute(ErrorStat stat) const;
  double relative(ErrorStat stat) const;
};

struct SimpleThreshold {
  ErrorStat check_error_stat = ErrorStat::kElemwise;
  Tolerance atol = 1e-5, rtol = 1e-5;
  double quantile = 0.99;
};
/// For a function with a single metric: the maximum
/// for kL2 and kLpips, the minimum for others.
struct MetricThreshold {
  Tolerance value = 0.0;
};
/// Positions that an index may have moved.
struct IndexThreshold {
  int64_t places = 0;
};

/// Nothing when nothing could be measured; a single number for all functions except kSimple.
using Metrics = std::variant<std::monostate, SimpleMetrics, double>;
using Threshold = std::variant<std::monostate, SimpleThreshold, MetricThreshold, IndexThreshold>;

/// True when the metrics pass. For kElemwise, which checks every element, this is the result for the largest
/// errors only. False without metrics.
bool meets(CompareFunction function, const Metrics& metrics, const Threshold& threshold);

/// Why two outputs could not be compared as numbers.
enum class Obstacle : uint8_t {
  kNone,
  kShapes,  ///< they differ
  kTypes,   ///< not both numeric, and not both strings
  kMetric,  ///< the function has no metric for such outputs
};

/// One output under one function.
struct OutputResult {
  std::string output;  ///< name in the first runner
  std::string other;   ///< name in the second
  bool passed = false;
  Obstacle obstacle = Obstacle::kNone;
  Metrics metrics;
  Threshold threshold;
};

/// All outputs of one iteration under one function.
struct FunctionResult {
  CompareFunction function = CompareFunction::kCustom;
  std::string label;  ///< the function's name; for a custom one the user's name
  std::vector<OutputResult> outputs;
  bool passed() const;
};

/// One iteration of two runners.
struct PairResult {
  std::vector<FunctionResult> functions;
  bool passed() const;
};

/// One output under one function, over all iterations.
struct OutputSummary {
  std::string output;
  int64_t iterations = 0, passed = 0;
  int64_t incomparable = 0;  ///< iterations without metrics
  Metrics mean;              ///< of each metric over the iterations that have it
  Threshold threshold;
};

/// One function over all iterations of two runners.
struct FunctionSummary {
  CompareFunction function = CompareFunction::kCustom;
  std::string label;
  std::vector<OutputSummary> outputs;  ///< in the order in which they first occurred
};

/// The criterion of agreement of two runners.
enum class Aggregation : uint8_t {
  kPerSample,  ///< every iteration has to pass
  kAverage,    ///< the mean of every metric over the iterations has to pass
};

/// Two runners over all iterations.
struct PairSummary {
  std::string runner0, runner1;
  int64_t iterations = 0, passed_iterations = 0;
  std::vector<FunctionSummary> functions;

  /// False when there was no iteration.
  bool passed(Aggregation aggregation) const;
};

/// True when the mean of each metric passes. Throws Error (kInvalidArgument) when an iteration had
/// none.
bool average_passes(const FunctionSummary& function, const OutputSummary& output);

/// Accumulates iterations.
class PairAccumulator {
 public:
  PairAccumulator(std::string runner0, std::string runner1) {
    summary_.runner0 = std::move(runner0);
    summary_.runner1 = std::move(runner1);
  }
  void add(const PairResult& iteration);
  const PairSummary& summary() const { return summary_; }

 private:
  PairSummary summary_;
};

}  // namespace assay
