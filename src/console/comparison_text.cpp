#include "console/comparison_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/guess.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "base/wording.h"
#include "compare/histogram.h"
#include "compare/report.h"
#include "tensor/convert.h"
#include "tensor/half.h"
#include "tensor/print.h"

namespace assay {
namespace {

using log::Severity;

constexpr const char* kAbsolute = "Absolute";
constexpr const char* kRelative = "Relative";
constexpr int64_t kSmall = 100;  // elements: smaller arrays are shown

/// Formatted like a Python set, in the given order.
std::string set_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + python_str_repr(name);
  return "{" + text + "}";
}

/// The values, if they are few, and a histogram, one level deeper than the line before.
void print_details(bool details, const Numbers& numbers, bool is_bool, const std::function<Tensor()>& values,
                   const HistogramRange& range) {
  const Severity severity = details ? Severity::kInfo : Severity::kVerbose;
  if (!log::enabled(severity)) return;
  const log::Indent indent;
  if (numbers.size() <= kSmall)
    log::message(severity, "---- Values ----\n{}", indent_block(array_str(values())));
  if (numbers.size() == 0) return;
  std::string problem;
  const std::string text = is_bool ? "" : histogram_text(numbers, range, &problem);
  if (!problem.empty()) log::verbose("Could not generate histogram. Note: Error was: {}", problem);
  log::message(severity, "{}", text);
}

/// The elements at these row-major positions, in one dimension.
Tensor gather(const Tensor& tensor, const std::vector<int64_t>& positions) {
  const Tensor from = unpack(tensor);
  const auto bytes = storage_bytes(from.dtype(), 1);
  Tensor out = Tensor::allocate(from.dtype(), Shape{static_cast<int64_t>(positions.size())});
  auto* to = static_cast<std::byte*>(out.mutable_data());
  for (const int64_t position : positions) {
    std::memcpy(to, static_cast<const std::byte*>(from.data()) + bytes * static_cast<size_t>(position),
                bytes);
    to += bytes;
  }
  return out;
}

/// One row of coordinates per position.
Tensor coordinates(const Shape& shape, const std::vector<int64_t>& positions) {
  const std::vector<int64_t> strides = shape.strides();
  Tensor out = Tensor::allocate(DType::kInt64, Shape{static_cast<int64_t>(positions.size()), shape.rank()});
  int64_t* to = out.mutable_data<int64_t>();
  for (const int64_t position : positions)
    for (size_t axis = 0; axis < shape.size(); ++axis) *to++ = position / strides[axis] % shape[axis];
  return out;
}

Tensor truth_values(const Numbers& errors) {
  const Tensor numbers = materialize(errors);
  std::vector<bool> truth;
  for (const uint64_t x : numbers.span<uint64_t>()) truth.push_back(x != 0);
  return Tensor::vector(truth).reshaped(errors.shape());
}

/// The whole arrays, at kSuperVerbose.
void print_whole_outputs(const OutputPair& pair) {
  if (!log::enabled(Severity::kSuperVerbose)) return;
  const auto whole = [](const std::string& runner, const std::string& name, const Tensor& output) {
    log::super_verbose("{} | Output: {} {}:\n{}", name_column(runner), name, type_text(output),
                       indent_block(array_str(output)));
  };
  whole(pair.runner0, pair.name0, pair.output0);
  whole(pair.runner1, pair.name1, pair.output1);
}

void print_mismatches(const OutputComparison& c, const SimpleThreshold& threshold) {
  if (threshold.check_error_stat != ErrorStat::kElemwise || !log::enabled(Severity::kExtraVerbose)) return;
  const OutputPair& pair = c.pair;
  const auto positions = c.result.passed
                             ? std::vector<int64_t>()
                             : mismatches(c.errors->difference, threshold.atol.value, threshold.rtol.value);
  const log::Indent indent;
  if (log::enabled(Severity::kSuperVerbose))
    log::super_verbose("Mismatched indices:\n{}", array_str(coordinates(pair.output0.shape(), positions)));
  log::extra_verbose("{} | Mismatched values:\n{}", name_column(pair.runner0),
                     array_str(gather(pair.output0, positions)));
  log::extra_verbose("{} | Mismatched values:\n{}", name_column(pair.runner1),
                     array_str(gather(pair.output1, positions)));
}

std::string required_tolerance(const ErrorArrays& e, const SimpleMetrics& m, const SimpleThreshold& t) {
  const ErrorStat stat = t.check_error_stat;
  const auto kind_of = [&](const Numbers& errors) {
    return stat == ErrorStat::kMean ? DType::kFloat32 : errors.kind();
  };
  std::string text =
      fmt::format("Minimum Required Tolerance: {} error | [abs={}] OR [rel={}]", error_stat_name(stat),
                  error_text(m.absolute(stat), kind_of(e.difference.absolute())),
                  error_text(m.relative(stat), kind_of(e.difference.relative())));
  if (stat == ErrorStat::kElemwise) text += " (requirements may be lower if both abs/rel tolerances are set)";
  if (stat == ErrorStat::kQuantile) text += fmt::format(" (quantile={})", format_g(t.quantile, 4));
  return text;
}

void print_obstacle(const OutputComparison& c, bool remedy) {
  const OutputPair& pair = c.pair;
  if (c.result.obstacle == Obstacle::kTypes)
    return log::error("FAILED | Output: '{}' | Cannot compare {} with {} outputs.", pair.name0,
                      dtype_name(pair.output0.dtype()), dtype_name(pair.output1.dtype()));
  if (c.result.obstacle == Obstacle::kMetric)
    return log::error("FAILED | Output: '{}' | {} cannot be computed: {}.", pair.name0,
                      compare_function_label(c.function), c.note);
  log::error(
      "FAILED | Output: `{}` | Will not compare outputs of different shapes.\nNote: Output shapes are {} and "
      "{}.",
      pair.name0, pair.output0.shape().str(), pair.output1.shape().str());
  if (remedy) log::once(Severity::kError, "{}", say(Say::kShapeCheck));
}

}  // namespace

void ComparisonText::on_unknown_outputs(const UnknownOutputs& f) {
  const log::Indent iteration(level_);
  if (refuses_unknown_) {
    std::vector<std::string> outputs;
    std::copy_if(f.known.begin(), f.known.end(), std::back_inserter(outputs),
                 [](const std::string& name) { return !name.empty(); });
    log::critical(ErrorCode::kInvalidArgument,
                  "{} names {}, and no output is called so; the outputs are: {}. {}", f.option,
                  python_list_repr(f.unknown), python_list_repr(outputs), fmt::join(f.suggestions, " "));
  }
  std::string hints;
  for (const std::string& hint : f.suggestions) hints += "\n" + hint;
  log::warning(
      "Extra items in the {} dictionary: {}.\nNote: items requested were: {}, but all items are: {}{}",
      f.option, set_text(f.unknown), set_text(f.known), set_text(f.given), hints);
}

void ComparisonText::on_shapes_unchecked() {
  const log::Indent iteration(level_);
  log::once(Severity::kInfo,
            "Strict shape checking disabled. Will attempt to match output shapes before comparisons");
}

void ComparisonText::on_match(const OutputMatch& m) {
  const log::Indent iteration(level_);
  switch (m.kind) {
    case OutputMatch::Kind::kHasOwn:
      return log::verbose("Will not compare {} with {}, since the former already has an exact match: {}",
                          m.found, m.output, m.found);
    case OutputMatch::Kind::kAssumed:
      return diag::guess(
          "Output names did not match exactly. Assuming {} output: {} corresponds to output: {}", m.runner1,
          m.found, m.output);
    case OutputMatch::Kind::kDoesNotExist:
      return log::warning(
          "For output: '{}' [{}], skipping corresponding output: '{}' [{}], since the output was not found",
          m.output, m.runner0, m.found, m.runner1);
  }
}

void ComparisonText::on_output_begin(std::string_view label, const OutputPair& pair) {
  const log::Indent iteration(level_);
  log::start("{} | Comparing Output: '{}' {} with '{}' {}", label, pair.name0, type_text(pair.output0),
             pair.name1, type_text(pair.output1));
}

void ComparisonText::on_output_end(const OutputComparison& c) {
  const log::Indent indent(level_ + 1);
  if (std::holds_alternative<SimpleThreshold>(c.result.threshold)) return print_simple(c);
  if (const auto* t = std::get_if<IndexThreshold>(&c.result.threshold)) {
    if (c.result.obstacle == Obstacle::kShapes)
      return log::error("Cannot compare outputs of different shapes.");
    if (c.result.obstacle != Obstacle::kNone) return print_obstacle(c, false);
    for (const IndexMismatch& m : c.mismatches)
      if (m.missing_value.empty())
        log::error("FAILED | Difference exceeds index tolerance ({})", t->places);
      else
        log::error("FAILED | Value: {} not found in output", m.missing_value);
    if (c.result.passed) log::finish("PASSED | Difference is within index tolerance ({})", t->places);
    return;
  }
  log::extra_verbose("Note: Comparing {} vs. {}", c.pair.runner0, c.pair.runner1);
  print_shape_steps(c.shape_steps);
  if (c.result.obstacle != Obstacle::kNone) return print_obstacle(c, true);
  print_whole_outputs(c.pair);
  if (c.function == CompareFunction::kCustom)
    return log::message(c.result.passed ? Severity::kFinish : Severity::kError, "{}{}",
                        c.note.empty() ? "" : c.note + " | ", c.result.passed ? "PASSED" : "FAILED");
  const auto* threshold = std::get_if<MetricThreshold>(&c.result.threshold);
  const auto* value = std::get_if<double>(&c.result.metrics);
  if (threshold == nullptr || value == nullptr) return;
  log::message(c.result.passed ? Severity::kFinish : Severity::kError, "{}",
               metric_text(c.function, *value, *threshold));
}

void ComparisonText::print_simple(const OutputComparison& c) const {
  const auto& t = std::get<SimpleThreshold>(c.result.threshold);
  const OutputPair& pair = c.pair;
  log::info("Tolerance: [abs={}, rel={}] | Checking {} error", format_g(t.atol.value, 5),
            format_g(t.rtol.value, 5), error_stat_name(t.check_error_stat));
  log::extra_verbose("Note: Comparing {} vs. {}", pair.runner0, pair.runner1);
  print_shape_steps(c.shape_steps);
  if (c.result.obstacle == Obstacle::kShapes) return print_obstacle(c, c.shape_steps.empty());
  print_whole_outputs(pair);
  if (c.different_strings == 0)
    return log::finish("PASSED | Output: '{}' | All {} strings are equal", pair.name0, pair.output0.numel());
  if (c.different_strings > 0)
    return log::error("FAILED | Output: '{}' | {} of {} strings differ", pair.name0, c.different_strings,
                      pair.output0.numel());
  if (c.result.obstacle != Obstacle::kNone) return print_obstacle(c, false);
  if (c.has_zeros)
    log::once(Severity::kWarning,
              "{} | Output: {}: Some values are 0. Will add a small epsilon quantity to these when computing "
              "relative "
              "difference. Note that this may cause some relative differences to be extremely high. ",
              name_column(pair.runner1), pair.name1);
  print_mismatches(c, t);
  print_errors(c, t);
  log::extra_verbose("Finished comparing: '{}' {} [{}] and '{}' {} [{}]", pair.name0, type_text(pair.output0),
                     pair.runner0, pair.name1, type_text(pair.output1), pair.runner1);
  if (c.result.passed)
    log::finish("PASSED | Output: '{}' | Difference is within tolerance (rel={}, abs={})", pair.name0,
                t.rtol.str(), t.atol.str());
  else
    log::error("FAILED | Output: '{}' | Difference exceeds tolerance (rel={}, abs={})", pair.name0,
               t.rtol.str(), t.atol.str());
}

void ComparisonText::print_errors(const OutputComparison& c, const SimpleThreshold& threshold) const {
  const ErrorArrays& e = *c.errors;
  log::info("Error Metrics: {}", c.pair.name0);
  const log::Indent indent;
  log::info("{}", required_tolerance(e, std::get<SimpleMetrics>(c.result.metrics), threshold));
  draw_errors(c);
  const auto print = [&](const char* kind, const Numbers& errors, const Statistics& s, bool is_bool) {
    log::info("{} Difference | Stats: {}", kind, statistics_text(s, errors.kind(), errors.shape(), is_bool));
    print_details(
        !c.result.passed, errors, is_bool,
        [&] { return is_bool ? truth_values(errors) : materialize(errors); }, own_range(s));
    draw_heatmap(c, kind);
  };
  print(kAbsolute, e.difference.absolute(), e.absolute, e.difference.is_bool());
  print(kRelative, e.difference.relative(), e.relative, false);
}

void ComparisonText::draw_errors(const OutputComparison& c) const {
  if (!pictures_) return;
  const log::Indent deeper;
  pictures_->draw_errors(c.pair, *c.errors);
}

void ComparisonText::draw_heatmap(const OutputComparison& c, const char* kind) const {
  if (!pictures_) return;
  const bool is_relative = kind == kRelative;
  const log::Indent deeper;
  pictures_->draw_heatmap(fmt::format("{} Error | {}", kind, c.pair.name0),
                          is_relative ? c.errors->difference.relative() : c.errors->difference.absolute(),
                          is_relative ? c.errors->relative : c.errors->absolute, is_relative);
}

void ComparisonText::draw(const OutputComparison& c) const {
  if (!c.errors) return;
  draw_errors(c);
  draw_heatmap(c, kAbsolute);
  draw_heatmap(c, kRelative);
}

void ComparisonText::on_function_end(const FunctionResult& result) {
  const log::Indent iteration(level_);
  std::vector<std::string> all, mismatched;
  for (const OutputResult& r : result.outputs) {
    all.push_back(r.output);
    if (!r.passed) mismatched.push_back(r.output);
  }
  if (mismatched.empty())
    log::finish("PASSED | {} | All outputs matched | Outputs: {}", result.label, python_list_repr(all));
  else
    log::error("FAILED | {} | Mismatched outputs: {}", result.label, python_list_repr(mismatched));
}

void ComparisonText::on_outputs_compared(const OutputPairEnd& end) {
  const log::Indent iteration(level_);
  const PairSummaries& s = end.summaries;
  const bool details = log::enabled(end.failed ? Severity::kInfo : Severity::kVerbose);
  const HistogramRange range = common_range(s.first.statistics, s.second.statistics);
  std::optional<OutputPair> pair;
  for (const ArraySummary* a : {&s.first, &s.second}) {
    log::info("{}: {} | Stats: {}", a->runner, a->name, statistics_text(*a));
    if (!details) continue;
    if (!pair) pair = end.load();
    const Tensor& output = a == &s.first ? pair->output0 : pair->output1;
    print_details(
        end.failed, TensorNumbers(output), a->dtype == DType::kBool, [&] { return output; }, range);
  }
}

void ComparisonText::on_pair(const std::string& runner0, const std::string& runner1) {
  log::start("Accuracy Comparison | {} vs. {}", runner0, runner1);
}

void ComparisonText::on_iteration(int64_t index) {
  log::info("Iteration: {}", index);
  level_ = 1;
}

namespace {

void print_average(const FunctionSummary& f, const OutputSummary& o) {
  const auto* value = std::get_if<double>(&o.mean);
  const auto* threshold = std::get_if<MetricThreshold>(&o.threshold);
  const auto* errors = std::get_if<SimpleMetrics>(&o.mean);
  const auto* tolerance = std::get_if<SimpleThreshold>(&o.threshold);
  const Severity severity = average_passes(f, o) ? Severity::kFinish : Severity::kError;
  if (value != nullptr && threshold != nullptr)
    log::message(severity, "{}", metric_text(f.function, *value, *threshold));
  else if (errors != nullptr && tolerance != nullptr && severity == Severity::kError)
    log::error("simple: {} error | [abs={}] AND [rel={}] exceed the tolerances (rel={}, abs={}) | FAILED",
               error_stat_name(tolerance->check_error_stat),
               format_g(errors->absolute(tolerance->check_error_stat), 5),
               format_g(errors->relative(tolerance->check_error_stat), 5), tolerance->rtol.str(),
               tolerance->atol.str());
}

/// The outputs of all functions, each once.
std::vector<std::string> output_names(const PairSummary& pair) {
  std::vector<std::string> names;
  for (const FunctionSummary& f : pair.functions)
    for (const OutputSummary& o : f.outputs)
      if (std::find(names.begin(), names.end(), o.output) == names.end()) names.push_back(o.output);
  return names;
}

const OutputSummary* find_output(const FunctionSummary& f, const std::string& name) {
  for (const OutputSummary& o : f.outputs)
    if (o.output == name) return &o;
  return nullptr;
}

void print_average_summary(const PairSummary& pair, const std::string& notes, Passing passing) {
  const std::vector<std::string> names = output_names(pair);
  std::vector<bool> passed;
  for (const std::string& name : names) {
    passed.push_back(true);
    for (const FunctionSummary& f : pair.functions)
      if (const OutputSummary* o = find_output(f, name); o != nullptr && !average_passes(f, *o))
        passed.back() = false;
  }
  const auto count = std::count(passed.begin(), passed.end(), true);
  log::message(static_cast<size_t>(count) == names.size() ? Severity::kFinish : Severity::kError,
               "Accuracy Summary | {} vs. {} | Passed: {}/{} outputs{}", pair.runner0, pair.runner1, count,
               names.size(), notes);
  const log::Indent indent;
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<std::pair<const FunctionSummary*, const OutputSummary*>> shown;
    for (const FunctionSummary& f : pair.functions)
      if (const OutputSummary* o = find_output(f, names[i]); o != nullptr) shown.emplace_back(&f, o);
    const Severity severity = passed[i] ? Severity::kFinish : Severity::kError;
    if (shown.size() == 1 && std::holds_alternative<double>(shown[0].second->mean)) {
      log::message(severity, "{} | {}", names[i],
                   metric_text(shown[0].first->function, std::get<double>(shown[0].second->mean),
                               std::get<MetricThreshold>(shown[0].second->threshold)));
      continue;
    }
    const bool has_lines =
        passing == Passing::kNamed || std::any_of(shown.begin(), shown.end(), [&](const auto& s) {
          return std::holds_alternative<double>(s.second->mean) || !average_passes(*s.first, *s.second);
        });
    if (!has_lines) continue;
    log::message(severity, "{} | {}:", names[i], passed[i] ? "PASSED" : "FAILED");
    const log::Indent deeper;
    for (const auto& [f, o] : shown) print_average(*f, *o);
  }
}

}  // namespace

void print_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes,
                   Passing passing) {
  if (aggregation == Aggregation::kAverage) return print_average_summary(pair, notes, passing);
  const auto passed = static_cast<double>(pair.passed_iterations),
             total = static_cast<double>(pair.iterations);
  log::message(pair.passed_iterations == pair.iterations ? Severity::kFinish : Severity::kError,
               "Accuracy Summary | {} vs. {} | Passed: {}/{} iterations | Pass Rate: {:.2f}%{}", pair.runner0,
               pair.runner1, pair.passed_iterations, pair.iterations,
               total == 0 ? 100.0 : passed / total * 100.0, notes);
}

namespace {

/// Elements that `wrong` applies to, as a bool tensor.
template <typename Wrong>
Tensor mask_of(const Tensor& output, Wrong wrong) {
  const Tensor values = to_float64(output);
  Tensor mask = Tensor::allocate(DType::kBool, output.shape());
  bool* out = mask.mutable_data<bool>();
  for (const double x : values.span<double>()) *out++ = wrong(x);
  return mask;
}

bool is_nan(double x) { return std::isnan(x); }
bool is_not_finite(double x) { return !std::isfinite(x); }
const char* python_bool(bool value) { return value ? "True" : "False"; }

void print_nan(const Tensor& output) {
  log::error("NaN Detected | One or more NaNs were encountered in this output");
  log::once(Severity::kInfo,
            "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display locations of NaNs");
  if (log::enabled(Severity::kExtraVerbose))
    log::extra_verbose("Note: NaNs at:\n{}", array_str(mask_of(output, is_nan)));
}

void print_non_finite(const Tensor& output) {
  log::error("Inf Detected | One or more non-finite values were encountered in this output");
  log::once(Severity::kInfo,
            "Note: Use -vv or set logging verbosity to EXTRA_VERBOSE to display non-finite values");
  if (!log::enabled(Severity::kExtraVerbose)) return;
  log::extra_verbose("Note: non-finite values at:\n{}", array_str(mask_of(output, is_not_finite)));
  const Tensor values = to_float64(output);
  std::vector<double> wrong;
  for (const double x : values.span<double>())
    if (is_not_finite(x)) wrong.push_back(x);
  log::extra_verbose("Note: non-finite values:\n{}", array_str(Tensor::vector(wrong)));
}

}  // namespace

void print_validation(const ValidationResult& r, const Tensor& output, const ValidateOptions& options,
                      int64_t iteration) {
  log::start("{} | {}Validating output: {} (check_inf={}, check_nan={})", name_column(r.runner),
             iteration < 0 ? "" : fmt::format("Iteration {} | ", iteration), r.output,
             python_bool(options.check_inf), python_bool(options.check_nan));
  const log::Indent indent;
  if (r.summary) {
    log::info("{}", statistics_text(*r.summary));
    print_details(
        false, TensorNumbers(output), output.dtype() == DType::kBool, [&] { return output; },
        own_range(r.summary->statistics));
  }
  if (r.has_nan) print_nan(output);
  if (r.has_non_finite) print_non_finite(output);
  if (r.valid())
    log::finish("PASSED | Output: {} is valid", r.output);
  else
    log::error("FAILED | Errors detected in output: {}", r.output);
}

}  // namespace assay
