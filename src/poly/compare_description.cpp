#include "poly/compare_description.h"

#include "assay/error.h"
#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/postprocess.h"
#include "compare/simple.h"

namespace assay::poly {
namespace {

struct MetricFunction {
  CompareFunction function;
  const char* name;
  CompareFunc (*make)(const ByOutput<Number>& threshold, bool check_shapes);
};
constexpr MetricFunction kMetricFunctions[] = {
    {CompareFunction::kL2, "l2", CompareFunc::l2},
    {CompareFunction::kCosineSimilarity, "cosine_similarity", CompareFunc::cosine_similarity},
    {CompareFunction::kPsnr, "psnr", CompareFunc::psnr},
    {CompareFunction::kSnr, "snr", CompareFunc::snr},
    {CompareFunction::kLpips, "perceptual_metrics", CompareFunc::perceptual_metrics},
};

ByOutput<Number> described_numbers(const PerOutput<Tolerance>& tolerances) {
  std::vector<std::pair<std::string, Number>> numbers;
  for (const auto& [output, t] : tolerances.entries())
    numbers.emplace_back(output, t.integral ? Number(static_cast<int64_t>(t.value)) : Number(t.value));
  return ByOutput<Number>::of(std::move(numbers));
}

CompareDescription described_simple(const SimpleOptions& o) {
  CompareDescription d{
      .function = "simple", .atol = described_numbers(o.atol), .rtol = described_numbers(o.rtol)};
  std::vector<std::pair<std::string, std::string>> statistics;
  for (const auto& [output, s] : o.check_error_stat.entries())
    statistics.emplace_back(output, std::string(error_stat_name(s)));
  d.check_error_stat = ByOutput<std::string>::of(std::move(statistics));
  std::vector<std::pair<std::string, Number>> quantiles;
  for (const auto& [output, q] : o.error_quantile.entries()) quantiles.emplace_back(output, q);
  d.error_quantile = ByOutput<Number>::of(std::move(quantiles));
  d.check_shapes = o.check_shapes;
  d.infinities_compare_equal = o.infinities_compare_equal;
  return d;
}

}  // namespace

CompareDescription describe(const CompareFunc& function) {
  if (!function.reference().empty()) return {.function = "script", .script = function.reference()};
  const Comparison& f = *function.function();
  if (const auto* simple = dynamic_cast<const SimpleComparison*>(&f))
    return described_simple(simple->options());
  if (const auto* indices = dynamic_cast<const IndicesComparison*>(&f))
    return {.function = "indices",
            .index_tolerance = ByOutput<int64_t>::of(indices->index_tolerance().entries())};
  if (const auto* metric = dynamic_cast<const MetricComparison*>(&f))
    for (const MetricFunction& m : kMetricFunctions)
      if (m.function == metric->function())
        return {.function = m.name,
                .threshold = described_numbers(metric->options().threshold),
                .check_shapes = metric->options().check_shapes};
  fail(ErrorCode::kUnsupported,
       "the comparison function '{}' is the program's own, and only the program has it", f.label());
}

CompareFunc make_function(const CompareDescription& d) {
  if (d.function == "script") return CompareFunc::script(d.script);
  if (d.function == "simple")
    return CompareFunc::simple({.atol = d.atol,
                                .rtol = d.rtol,
                                .check_error_stat = d.check_error_stat,
                                .error_quantile = d.error_quantile,
                                .check_shapes = d.check_shapes,
                                .infinities_compare_equal = d.infinities_compare_equal});
  if (d.function == "indices") return CompareFunc::indices(d.index_tolerance);
  for (const MetricFunction& m : kMetricFunctions)
    if (d.function == m.name) return m.make(d.threshold, d.check_shapes);
  fail(ErrorCode::kNotFound,
       "'{}' is no comparison function; there are: simple, indices, l2, cosine_similarity, psnr, snr, "
       "perceptual_metrics, script",
       d.function);
}

PostprocessDescription describe(const PostprocessFunc& function) {
  if (!function.reference().empty()) return {.script = function.reference()};
  const auto* top_k = dynamic_cast<const TopKPostprocess*>(function.function().get());
  require(top_k != nullptr, ErrorCode::kUnsupported,
          "the post-processing function is the program's own, and only the program has it");
  PostprocessDescription d;
  for (const auto& [output, k] : top_k->top_k().entries())
    d.top_k.emplace_back(output, std::pair<int64_t, int64_t>(k.k, k.axis));
  return d;
}

PostprocessFunc make_function(const PostprocessDescription& d) {
  require(d.script.empty() != d.top_k.empty(), ErrorCode::kInvalidArgument,
          "a post-processing function is a script or top_k: one of the two");
  return d.script.empty() ? PostprocessFunc::top_k(d.top_k) : PostprocessFunc::script(d.script);
}

}  // namespace assay::poly
