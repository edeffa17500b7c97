#include "run/accuracy_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "run/results_json.h"

namespace assay {
namespace {

using internal::excerpt;
using internal::JsonDocument;
using internal::JsonNode;
using internal::python_class;

/// The file form of a function with a single metric.
struct Form {
  CompareFunction function;
  const char *result, *field, *threshold;
};
constexpr std::array<Form, 5> kForms = {{
    {CompareFunction::kL2, "L2Result", "l2_norm", "L2Threshold"},
    {CompareFunction::kCosineSimilarity, "CosineSimilarityResult", "cosine_similarity",
     "CosineSimilarityThreshold"},
    {CompareFunction::kPsnr, "PsnrResult", "psnr", "PsnrThreshold"},
    {CompareFunction::kSnr, "SnrResult", "snr", "SnrThreshold"},
    {CompareFunction::kLpips, "PerceptualMetricsResult", "lpips", "LpipsThreshold"},
}};
constexpr const char* kSimpleResult = "OutputCompareResult";

const Form* form_of(CompareFunction function) {
  const auto it =
      std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) { return f.function == function; });
  return it == kForms.end() ? nullptr : &*it;
}

const Form* form_of(std::string_view result) {
  const auto it =
      std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) { return f.result == result; });
  return it == kForms.end() ? nullptr : &*it;
}

struct Field {
  const char* name;
  double SimpleMetrics::*value;
};
constexpr std::array<Field, 6> kFields = {{{"max_absdiff", &SimpleMetrics::max_absdiff},
                                           {"max_reldiff", &SimpleMetrics::max_reldiff},
                                           {"mean_absdiff", &SimpleMetrics::mean_absdiff},
                                           {"mean_reldiff", &SimpleMetrics::mean_reldiff},
                                           {"median_absdiff", &SimpleMetrics::median_absdiff},
                                           {"median_reldiff", &SimpleMetrics::median_reldiff}}};
constexpr const char *kQuantileAbs = "quantile_absdiff", *kQuantileRel = "quantile_reldiff";

void write(JsonWriter& json, const Tolerance& t) {
  if (t.integral)
    json.value(static_cast<int64_t>(t.value));
  else
    json.value(t.value);
}

void write(JsonWriter& json, const std::optional<double>& x) {
  if (x)
    json.value(*x);
  else
    json.null();
}

void write_simple(JsonWriter& json, const SimpleMetrics& m, const SimpleThreshold& t, bool passed) {
  json.begin_object();
  for (const Field& f : kFields) json.key(f.name).value(m.*f.value);
  json.key(kQuantileAbs);
  write(json, m.quantile_absdiff);
  json.key(kQuantileRel);
  write(json, m.quantile_reldiff);
  json.key("thresholds").begin_object();
  json.key("check_error_stat").value(error_stat_name(t.check_error_stat));
  json.key("atol");
  write(json, t.atol);
  json.key("rtol");
  write(json, t.rtol);
  json.key("polygraphy_class").value("SimpleThreshold");
  json.end_object();
  json.key("passed");
  if (t.check_error_stat == ErrorStat::kElemwise)
    json.value(passed);
  else
    json.null();
  json.key("polygraphy_class").value(kSimpleResult);
  json.end_object();
}

void write_result(JsonWriter& json, CompareFunction function, const OutputResult& r) {
  if (const auto* m = std::get_if<SimpleMetrics>(&r.metrics))
    if (const auto* t = std::get_if<SimpleThreshold>(&r.threshold))
      return write_simple(json, *m, *t, r.passed);
  const auto* value = std::get_if<double>(&r.metrics);
  const auto* t = std::get_if<MetricThreshold>(&r.threshold);
  const Form* form = form_of(function);
  if (value == nullptr || t == nullptr || form == nullptr) {
    json.value(r.passed);
    return;
  }
  json.begin_object();
  json.key(form->field).value(*value);
  json.key("thresholds").begin_object();
  json.key("threshold");
  write(json, t->value);
  json.key("polygraphy_class").value(form->threshold);
  json.end_object();
  json.key("polygraphy_class").value(form->result);
  json.end_object();
}

[[noreturn]] void malformed(std::string_view what) {
  fail(ErrorCode::kInvalidArgument, "the accuracy results are malformed: {}", what);
}

const JsonNode& member(const JsonNode& node, const char* name) {
  const JsonNode* found = node.is_dict() ? node.member(name) : nullptr;
  if (found == nullptr) malformed(fmt::format("'{}' is missing", name));
  return *found;
}

const std::vector<JsonNode>& list(const JsonNode& node, const char* what) {
  if (!node.is_list()) malformed(fmt::format("{} is not a list", what));
  return node.children;
}

double number(const JsonNode& node, const char* what) {
  if (node.kind != JsonNode::Kind::kNumber) malformed(fmt::format("{} is not a number", what));
  return std::strtod(std::string(node.text).c_str(), nullptr);
}

Tolerance tolerance(const JsonNode& node, const char* what) {
  const double value = number(node, what);
  const bool integral =
      node.text.find_first_not_of("-0123456789") == node.text.npos && std::abs(value) < 0x1p53;
  return integral ? Tolerance(static_cast<int64_t>(value)) : Tolerance(value);
}

std::optional<double> optional_number(const JsonNode& node, const char* what) {
  if (node.kind == JsonNode::Kind::kNull) return std::nullopt;
  return number(node, what);
}

void read_simple(const JsonNode& node, OutputResult& r) {
  SimpleMetrics m;
  for (const Field& f : kFields) m.*f.value = number(member(node, f.name), f.name);
  m.quantile_absdiff = optional_number(member(node, kQuantileAbs), kQuantileAbs);
  m.quantile_reldiff = optional_number(member(node, kQuantileRel), kQuantileRel);
  const JsonNode& t = member(node, "thresholds");
  SimpleThreshold threshold;
  const auto stat = error_stat_from_name(member(t, "check_error_stat").text);
  if (!stat) malformed("check_error_stat is none of max, mean, median, elemwise, quantile");
  threshold.check_error_stat = *stat;
  threshold.atol = tolerance(member(t, "atol"), "atol");
  threshold.rtol = tolerance(member(t, "rtol"), "rtol");
  r.metrics = m;
  r.threshold = threshold;
  const JsonNode& passed = member(node, "passed");
  r.passed = passed.kind == JsonNode::Kind::kTruth ? passed.text == "true"
                                                   : meets(CompareFunction::kSimple, r.metrics, r.threshold);
}

/// Records the kind in `function`.
OutputResult read_result(const JsonNode& node, CompareFunction& function) {
  OutputResult r;
  r.output = std::string(node.key);
  if (node.kind == JsonNode::Kind::kTruth) {
    r.passed = node.text == "true";
    return r;
  }
  const std::string_view name = node.class_name();
  if (name == kSimpleResult) {
    function = CompareFunction::kSimple;
    read_simple(node, r);
    return r;
  }
  const Form* form = form_of(name);
  if (form == nullptr)
    fail(ErrorCode::kUnsupported, "a result is of class {}, which is none of the known ones",
         python_class(node));
  function = form->function;
  if (const auto value = optional_number(member(node, form->field), form->field)) r.metrics = *value;
  r.threshold = MetricThreshold{tolerance(member(member(node, "thresholds"), "threshold"), "threshold")};
  // Metrics that could not be computed count as passed.
  r.passed = r.metrics.index() == 0 || meets(function, r.metrics, r.threshold);
  return r;
}

SavedAccuracy read_function(const JsonNode& node) {
  if (node.class_name() != "AccuracyResult") malformed("an entry of 'lst' is not an AccuracyResult");
  SavedAccuracy saved;
  const std::string_view aggregation = member(node, "aggregation").text;
  if (aggregation != "per_sample" && aggregation != "average")
    malformed("the aggregation is neither per_sample nor average");
  saved.aggregation = aggregation == "average" ? Aggregation::kAverage : Aggregation::kPerSample;
  for (const JsonNode& entry : list(member(node, "lst"), "'lst'")) {
    const auto& parts = list(entry, "an entry of 'lst'");
    if (parts.size() != 2 || list(parts[0], "a pair").size() != 2 || !parts[0].children[0].is_string() ||
        !parts[0].children[1].is_string())
      malformed("an entry of 'lst' is not a pair of two runners' names and their iterations");
    SavedAccuracy::Pair& pair = saved.pairs.emplace_back();
    pair.runner0 = parts[0].children[0].text;
    pair.runner1 = parts[0].children[1].text;
    for (const JsonNode& iteration : list(parts[1], "the iterations of a pair")) {
      if (!iteration.is_dict()) malformed("an iteration is not a dict of outputs");
      std::vector<OutputResult>& results = pair.iterations.emplace_back();
      for (const JsonNode& result : iteration.children)
        with_context(
            [&] {
              return fmt::format("in output '{}' of iteration {}", result.key, pair.iterations.size() - 1);
            },
            [&] { results.push_back(read_result(result, saved.function)); });
    }
  }
  return saved;
}

}  // namespace

std::vector<std::string> metric_fields(CompareFunction function) {
  std::vector<std::string> fields;
  if (function == CompareFunction::kSimple) {
    for (const Field& f : kFields) fields.emplace_back(f.name);
    fields.emplace_back(kQuantileAbs);
    fields.emplace_back(kQuantileRel);
  } else if (const Form* form = form_of(function)) {
    fields.emplace_back(form->field);
  }
  return fields;
}

std::vector<std::pair<std::string, double>> metric_values(CompareFunction function, const OutputResult& r) {
  std::vector<std::pair<std::string, double>> values;
  if (const auto* m = std::get_if<SimpleMetrics>(&r.metrics)) {
    for (const Field& f : kFields) values.emplace_back(f.name, m->*f.value);
    if (m->quantile_absdiff) values.emplace_back(kQuantileAbs, *m->quantile_absdiff);
    if (m->quantile_reldiff) values.emplace_back(kQuantileRel, *m->quantile_reldiff);
  } else if (const auto* value = std::get_if<double>(&r.metrics)) {
    if (const Form* form = form_of(function)) values.emplace_back(form->field, *value);
  }
  return values;
}

std::vector<std::string> SavedAccuracy::metric_fields() const {
  for (const Pair& pair : pairs)
    for (const auto& iteration : pair.iterations)
      for (const OutputResult& r : iteration)
        if (r.threshold.index() != 0) return assay::metric_fields(function);
  return {};
}

void save_accuracy_results(const AccuracyResults& results, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  json.key("lst").begin_array();
  for (const SavedAccuracy& saved : results) {
    json.begin_object();
    json.key("lst").begin_array();
    for (const SavedAccuracy::Pair& pair : saved.pairs) {
      json.begin_array();
      json.begin_array().value(pair.runner0).value(pair.runner1).end_array();
      json.begin_array();
      for (const auto& iteration : pair.iterations) {
        json.begin_object();
        for (const OutputResult& r : iteration) {
          json.key(r.output);
          write_result(json, saved.function, r);
        }
        json.end_object();
      }
      json.end_array();
      json.end_array();
    }
    json.end_array();
    json.key("aggregation").value(saved.aggregation == Aggregation::kAverage ? "average" : "per_sample");
    json.key("polygraphy_class").value("AccuracyResult");
    json.end_object();
  }
  json.end_array();
  json.key("polygraphy_class").value("AccuracyResults");
  json.end_object();
  file.commit();
}

bool holds_accuracy_results(const std::string& path) {
  return internal::parse_json_file(path).root.class_name() == "AccuracyResults";
}

AccuracyResults load_accuracy_results(const std::string& path) {
  const JsonDocument document = internal::parse_json_file(path);
  return with_context([&] { return file_place(path); },
                      [&] {
                        const JsonNode& root = document.root;
                        if (root.class_name() != "AccuracyResults")
                          fail(ErrorCode::kInvalidArgument,
                               "Provided JSON cannot be decoded into a AccuracyResults.\nNote: JSON was "
                               "decoded into a <class '{}'>:\n{}",
                               python_class(root), excerpt(root));
                        AccuracyResults results;
                        for (const JsonNode& node : list(member(root, "lst"), "'lst'"))
                          results.push_back(read_function(node));
                        return results;
                      });
}

}  // namespace assay
