#include "compare/simple.h"

#include <algorithm>

#include "compare/pair_check.h"

namespace assay {
namespace {

bool has_zero(const Numbers& numbers) {
  bool found = false;
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t n, int64_t) {
      found = std::find(p, p + n, T{0}) != p + n;
      return !found;
    });
  });
  return found;
}

/// In NumPy's type: a mean in float32, other statistics in the type of the errors.
double rounded(double x, DType kind) { return kind == DType::kFloat32 ? static_cast<float>(x) : x; }

SimpleMetrics metrics_of(const ErrorArrays& e, bool with_quantile) {
  const DType absolute = e.difference.absolute().kind(), relative = e.difference.relative().kind();
  SimpleMetrics m{.max_absdiff = rounded(e.absolute.max, absolute),
                  .max_reldiff = rounded(e.relative.max, relative),
                  .mean_absdiff = rounded(e.absolute.mean, DType::kFloat32),
                  .mean_reldiff = rounded(e.relative.mean, DType::kFloat32),
                  .median_absdiff = rounded(e.absolute.median, absolute),
                  .median_reldiff = rounded(e.relative.median, relative),
                  .quantile_absdiff = {},
                  .quantile_reldiff = {}};
  if (with_quantile) {
    m.quantile_absdiff = rounded(e.absolute.quantile, absolute);
    m.quantile_reldiff = rounded(e.relative.quantile, relative);
  }
  return m;
}

bool passes(const ErrorArrays& e, const SimpleMetrics& metrics, const SimpleThreshold& t) {
  if (e.absolute.count == 0) return true;
  if (t.check_error_stat != ErrorStat::kElemwise) return meets(CompareFunction::kSimple, metrics, t);
  const bool may_fail = exceeds(e.difference.absolute().kind(), e.absolute.max, t.atol.value) &&
                        exceeds(e.difference.relative().kind(), e.relative.max, t.rtol.value);
  return !may_fail || !any_mismatch(e.difference, t.atol.value, t.rtol.value);
}

int64_t different_strings(const OutputPair& pair) {
  const auto a = pair.output0.span<std::string>(), b = pair.output1.span<std::string>();
  int64_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  return different;
}

}  // namespace

SimpleThreshold SimpleOptions::threshold_for(const std::string& output) const {
  return {.check_error_stat = check_error_stat.get(output, ErrorStat::kElemwise),
          .atol = atol.get(output, 1e-5),
          .rtol = rtol.get(output, 1e-5),
          .quantile = error_quantile.get(output, 0.99)};
}

void SimpleComparison::begin(const OutputSource& source0, const OutputSource& source1,
                             CompareObserver& observer) const {
  check_output_names("rtol", options_.rtol, source0, source1, observer);
  check_output_names("atol", options_.atol, source0, source1, observer);
  check_output_names("check_error_stat", options_.check_error_stat, source0, source1, observer);
  check_output_names("quantile", options_.error_quantile, source0, source1, observer);
  if (!options_.check_shapes) observer.on_shapes_unchecked();
}

OutputResult SimpleComparison::compare_pair(const OutputPair& pair, PairCache& cache, const CompareOptions&,
                                            CompareObserver& observer) const {
  const SimpleThreshold threshold = options_.threshold_for(pair.name0);
  const PreparedPair prepared = prepare(pair, options_.check_shapes);
  const OutputPair& p = prepared.pair;
  const bool are_strings = p.output0.dtype() == DType::kString && p.output1.dtype() == DType::kString;
  OutputComparison comparison{
      .function = CompareFunction::kSimple, .pair = p, .result = {}, .shape_steps = prepared.steps};
  OutputResult& result = comparison.result;
  result.output = pair.name0;
  result.other = pair.name1;
  result.threshold = threshold;
  if (prepared.obstacle == Obstacle::kTypes && are_strings) {
    comparison.different_strings = different_strings(p);
    result.passed = comparison.different_strings == 0;
    observer.on_output_end(comparison);
    return result;
  }
  if (prepared.obstacle != Obstacle::kNone)
    return incomparable(CompareFunction::kSimple, prepared, threshold, observer);

  const std::optional<PairSummaries> reshaped =
      prepared.steps.empty() ? std::nullopt : std::optional(summarize(p));
  const PairSummaries& summaries = reshaped ? *reshaped : cache.summaries(p);
  const std::optional<double> quantile =
      threshold.check_error_stat == ErrorStat::kQuantile ? std::optional(threshold.quantile) : std::nullopt;
  const Difference difference(p.output0, p.output1, options_.infinities_compare_equal, summaries.identical);
  const Statistics absolute = difference.absolute_statistics(summaries.first.statistics, quantile);
  const Statistics relative = difference.relative_statistics(summaries.first.statistics, quantile);
  const TensorNumbers reference(p.output1);
  const Statistics& of_reference = summaries.second.statistics;
  comparison.has_zeros = is_float(p.output1.dtype()) &&
                         (of_reference.zero_count != 0 || (of_reference.has_nan() && has_zero(reference)));
  comparison.errors.emplace(ErrorArrays{difference, absolute, relative, reference});
  const SimpleMetrics metrics = metrics_of(*comparison.errors, quantile.has_value());
  result.metrics = metrics;
  result.passed = passes(*comparison.errors, metrics, threshold);
  observer.on_output_end(comparison);
  return result;
}

}  // namespace assay
