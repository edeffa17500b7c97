#include "compare/results.h"

#include <algorithm>
#include <array>
#include <limits>

#include "assay/error.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 8> kLabels = {"simple", "indices", "L2 Norm", "Cosine Similarity",
                                                     "PSNR",   "SNR",     "LPIPS",   ""};
constexpr std::array<std::string_view, 5> kStatNames = {"max", "mean", "median", "elemwise", "quantile"};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename Item, typename Is>
Item& find_or_add(std::vector<Item>& items, size_t likely, Is is) {
  if (likely < items.size() && is(items[likely])) return items[likely];
  const auto it = std::find_if(items.begin(), items.end(), is);
  return it != items.end() ? *it : items.emplace_back();
}

void average(double& mean, double value, int64_t count) {
  mean += (value - mean) / static_cast<double>(count);
}

/// Means of infinities are infinite, as those of a sum are; the running form would give NaN.
void add_to_mean(double& mean, double value, int64_t count) {
  if (std::abs(mean) == std::numeric_limits<double>::infinity() && value != -mean) {
    mean = value != value ? value : mean;
    return;
  }
  if (std::abs(value) == std::numeric_limits<double>::infinity() && mean == mean) {
    mean = value == -mean ? kNaN : value;
    return;
  }
  average(mean, value, count);
}

void add_to_mean(std::optional<double>& mean, const std::optional<double>& value, int64_t count) {
  if (!value) return;
  if (!mean) mean = 0;
  add_to_mean(*mean, *value, count);
}

/// `count` includes this one.
void add_to_mean(Metrics& mean, const Metrics& value, int64_t count) {
  if (mean.index() != value.index()) {
    mean = value;
    return;
  }
  if (auto* m = std::get_if<double>(&mean)) add_to_mean(*m, std::get<double>(value), count);
  auto* m = std::get_if<SimpleMetrics>(&mean);
  if (m == nullptr) return;
  const auto& v = std::get<SimpleMetrics>(value);
  for (double SimpleMetrics::*field :
       {&SimpleMetrics::max_absdiff, &SimpleMetrics::max_reldiff, &SimpleMetrics::mean_absdiff,
        &SimpleMetrics::mean_reldiff, &SimpleMetrics::median_absdiff, &SimpleMetrics::median_reldiff})
    add_to_mean(m->*field, v.*field, count);
  add_to_mean(m->quantile_absdiff, v.quantile_absdiff, count);
  add_to_mean(m->quantile_reldiff, v.quantile_reldiff, count);
}

double statistic(ErrorStat stat, double max, double mean, double median,
                 const std::optional<double>& quantile) {
  switch (stat) {
    case ErrorStat::kMean:
      return mean;
    case ErrorStat::kMedian:
      return median;
    case ErrorStat::kQuantile:
      return quantile.value_or(kNaN);
    default:
      return max;
  }
}

}  // namespace

std::string_view compare_function_label(CompareFunction function) {
  return kLabels[static_cast<size_t>(function)];
}

std::string_view error_stat_name(ErrorStat stat) { return kStatNames[static_cast<size_t>(stat)]; }

std::optional<ErrorStat> error_stat_from_name(std::string_view name) {
  for (size_t i = 0; i < kStatNames.size(); ++i)
    if (kStatNames[i] == name) return static_cast<ErrorStat>(i);
  return std::nullopt;
}

double SimpleMetrics::absolute(ErrorStat stat) const {
  return statistic(stat, max_absdiff, mean_absdiff, median_absdiff, quantile_absdiff);
}

double SimpleMetrics::relative(ErrorStat stat) const {
  return statistic(stat, max_reldiff, mean_reldiff, median_reldiff, quantile_reldiff);
}

bool meets(CompareFunction function, const Metrics& metrics, const Threshold& threshold) {
  if (const auto* errors = std::get_if<SimpleMetrics>(&metrics)) {
    const auto* t = std::get_if<SimpleThreshold>(&threshold);
    return t != nullptr && (errors->absolute(t->check_error_stat) <= t->atol.value ||
                            errors->relative(t->check_error_stat) <= t->rtol.value);
  }
  const auto* value = std::get_if<double>(&metrics);
  const auto* t = std::get_if<MetricThreshold>(&threshold);
  if (value == nullptr || t == nullptr) return false;
  const bool is_distance = function == CompareFunction::kL2 || function == CompareFunction::kLpips;
  return is_distance ? *value <= t->value.value : *value >= t->value.value;
}

bool FunctionResult::passed() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const OutputResult& o) { return o.passed; });
}

bool PairResult::passed() const {
  return std::all_of(functions.begin(), functions.end(), [](const FunctionResult& f) { return f.passed(); });
}

bool average_passes(const FunctionSummary& function, const OutputSummary& output) {
  if (output.incomparable > 0)
    fail(ErrorCode::kInvalidArgument,
         "Output: {} | Cannot compute an averaged comparison because at least one iteration produced no "
         "comparable metrics "
         "(e.g. a shape mismatch). Every iteration has to be comparable for an average to mean anything.",
         output.output);
  return meets(function.function, output.mean, output.threshold);
}

bool PairSummary::passed(Aggregation aggregation) const {
  if (iterations == 0) return false;
  if (aggregation == Aggregation::kPerSample) return passed_iterations == iterations;
  for (const FunctionSummary& f : functions)
    for (const OutputSummary& o : f.outputs)
      if (!average_passes(f, o)) return false;
  return true;
}

void PairAccumulator::add(const PairResult& iteration) {
  ++summary_.iterations;
  summary_.passed_iterations += iteration.passed();
  summary_.functions.resize(std::max(summary_.functions.size(), iteration.functions.size()));
  for (size_t i = 0; i < iteration.functions.size(); ++i) {
    const FunctionResult& from = iteration.functions[i];
    FunctionSummary& function = summary_.functions[i];
    function.function = from.function;
    function.label = from.label;
    for (size_t j = 0; j < from.outputs.size(); ++j) {
      const OutputResult& result = from.outputs[j];
      OutputSummary& output = find_or_add(function.outputs, j, [&](const OutputSummary& o) {
        return o.output == result.output && o.iterations > 0;
      });
      output.output = result.output;
      output.threshold = result.threshold;
      ++output.iterations;
      output.passed += result.passed;
      if (result.metrics.index() == 0)
        ++output.incomparable;
      else
        add_to_mean(output.mean, result.metrics, output.iterations - output.incomparable);
    }
  }
}

}  // namespace assay
