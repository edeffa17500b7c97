// assay check accuracy: applies other thresholds to saved accuracy results.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/command.h"
#include "cli/options/compare_functions.h"
#include "cli/options/logging.h"
#include "cli/options/output_names.h"
#include "cli/options/report.h"
#include "console/comparison_text.h"
#include "run/accuracy_results.h"
#include "script/compare_script.h"

namespace assay::cli::command_check_accuracy {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Results").options = {
      {.names = {"path"},
       .help = "Accuracy results that `run --save-accuracy-results` saved.",
       .metavar = "FILE"},
  };
  parser.add_group("Comparison").options = {
      compare_option(),
      {.names = {"--compare-func-script"},
       .help = "An object of this script in Python (compare_outputs, unless it is named) says what is "
               "compared with "
               "which thresholds, by its method thresholds_for().",
       .metavar = "FILE[:NAME]"},
      {.names = {"--show-heatmaps"},
       .arity = Arity::kNone,
       .refusal = "saved results hold no tensors to draw."},
      {.names = {"--show-error-metrics-plot"},
       .arity = Arity::kNone,
       .refusal = "saved results hold no tensors to draw."},
      shape_check_option(),
      {.names = {"--fail-fast"}, .help = "Stop at the first comparison that fails.", .arity = Arity::kNone},
      {.names = {"--check-average"},
       .help = "The mean of each metric over all iterations decides, not each iteration.",
       .arity = Arity::kNone},
      {.names = {"--save-accuracy-results"},
       .help = "Save the results with the new thresholds.",
       .metavar = "FILE"},
  };
  add_compare_function_options(parser);
  parser.add_group("Report").options = report_options({});
}

bool has_thresholds(const ParsedArgs& args) {
  const auto given = args.given();
  return std::any_of(given.begin(), given.end(), [](const Option* option) {
    return option->names_what == Names::kOutputs || option->names.front() == "--compare" ||
           option->names.front() == "--compare-func-script" ||
           option->names.front() == "--infinities-compare-equal";
  });
}

std::string fields_text(const AccuracyResults& results) {
  std::string text;
  for (const SavedAccuracy& saved : results)
    text += (text.empty() ? "" : ", ") + python_list_repr(saved.metric_fields());
  return "[" + text + "]";
}

/// The first remaining saved comparison with these metrics.
SavedAccuracy take(const std::vector<std::string>& fields, AccuracyResults& left,
                   const AccuracyResults& all) {
  const auto it = std::find_if(left.begin(), left.end(), [&](const SavedAccuracy& saved) {
    return !saved.metric_fields().empty() && metric_fields(saved.function) == fields;
  });
  if (it == left.end())
    log::critical(ErrorCode::kInvalidArgument,
                  "No saved comparison results match the requested threshold (metric fields: {}).\n"
                  "Note: the saved results contain these metric fields: {}. If these results came from a "
                  "custom comparison "
                  "function, its threshold type is reachable via --compare-func-script.",
                  python_list_repr(fields), fields_text(all));
  SavedAccuracy saved = std::move(*it);
  left.erase(it);
  return saved;
}

void check_threshold(const Threshold& threshold, const OutputResult& result) {
  if (result.metrics.index() == 0 && result.threshold.index() == 0)
    log::critical(ErrorCode::kInvalidArgument,
                  "Output: '{}' has no re-thresholdable metrics (e.g. it was a shape mismatch or an "
                  "'indices' comparison), so "
                  "it cannot be re-evaluated against new thresholds.\n"
                  "Note: run the comparison again on saved outputs (run --save-outputs / --load-outputs).",
                  result.output);
  const auto* simple = std::get_if<SimpleThreshold>(&threshold);
  const auto* errors = std::get_if<SimpleMetrics>(&result.metrics);
  if (simple != nullptr && simple->check_error_stat == ErrorStat::kQuantile && errors != nullptr &&
      !errors->quantile_absdiff)
    log::critical(
        ErrorCode::kInvalidArgument,
        "The saved results do not contain a 'quantile' statistic, so they cannot be checked against it.\n"
        "Note: run the comparison again with --check-error-stat quantile, or choose another statistic.");
}

using ThresholdFor = std::function<Threshold(const std::string& output)>;

/// Replaces the saved thresholds by these.
void rethreshold(SavedAccuracy& saved, const ThresholdFor& threshold_for) {
  for (SavedAccuracy::Pair& pair : saved.pairs)
    for (auto& iteration : pair.iterations)
      for (OutputResult& result : iteration) {
        const Threshold threshold = threshold_for(result.output);
        check_threshold(threshold, result);
        result.threshold = threshold;
        result.passed = result.metrics.index() == 0 || meets(saved.function, result.metrics, threshold);
      }
}

void require_statistic(const ThresholdFor& threshold_for, const AccuracyResults& results) {
  for (const SavedAccuracy& saved : results)
    for (const SavedAccuracy::Pair& pair : saved.pairs)
      for (const auto& iteration : pair.iterations)
        for (const OutputResult& result : iteration) {
          const Threshold threshold = threshold_for(result.output);
          const auto* simple = std::get_if<SimpleThreshold>(&threshold);
          if (simple != nullptr && simple->check_error_stat == ErrorStat::kElemwise)
            log::critical(
                ErrorCode::kInvalidArgument,
                "Cannot re-threshold an 'elemwise' comparison: it is a per-element check with no scalar "
                "statistic to "
                "threshold.\nNote: Choose an explicit statistic (--check-error-stat max, mean, median, or "
                "quantile), or "
                "re-run the comparison from saved raw outputs (run --save-outputs / --load-outputs).");
        }
}

void log_ignored(const AccuracyResults& left) {
  for (const SavedAccuracy& ignored : left)
    log::info("Ignoring saved comparison with metric fields {}: no matching threshold was requested.",
              python_list_repr(ignored.metric_fields()));
}

std::vector<std::string> output_names(const AccuracyResults& results) {
  std::vector<std::string> names;
  for (const SavedAccuracy& saved : results)
    for (const SavedAccuracy::Pair& pair : saved.pairs)
      for (const auto& iteration : pair.iterations)
        for (const OutputResult& result : iteration)
          if (std::find(names.begin(), names.end(), result.output) == names.end())
            names.push_back(result.output);
  return names;
}

/// Nothing for a comparison with its own method.
std::optional<Threshold> known_threshold(const script::ScriptThreshold& t) {
  if (t.value) return MetricThreshold{*t.value};
  if (!t.statistic) return std::nullopt;
  const auto statistic = error_stat_from_name(*t.statistic);
  if (!statistic)
    log::critical(ErrorCode::kInvalidArgument,
                  "Invalid choice for check_error_stat: {}.\n"
                  "Note: Valid choices are: ['max', 'mean', 'median', 'quantile']",
                  *t.statistic);
  return SimpleThreshold{
      .check_error_stat = *statistic, .atol = t.atol.value_or(0.0), .rtol = t.rtol.value_or(0.0)};
}

/// A threshold in Python decides on each result.
void judge_by_script(SavedAccuracy& saved, script::CompareScript& script) {
  for (SavedAccuracy::Pair& pair : saved.pairs)
    for (auto& iteration : pair.iterations)
      for (OutputResult& result : iteration) {
        if (result.metrics.index() == 0) check_threshold(std::monostate{}, result);
        result.passed = script.passes(result.output, metric_values(saved.function, result));
      }
}

/// The saved comparison for a script's object, with the object's thresholds.
AccuracyResults select_by_script(const ParsedArgs& args, const std::string& word, AccuracyResults saved) {
  if (args.has("--compare"))
    log::warning(
        "Argument: '--compare/--compare-func' will be ignored since '--compare-func-script' was provided.");
  const script::Reference reference = script::parse_reference(word, script::CompareScript::kDefaultFunction);
  script::CompareScript script(reference);
  const std::vector<std::string> outputs = output_names(saved);
  if (outputs.empty()) return {};
  const std::vector<script::ScriptThreshold> thresholds = script.thresholds(outputs);
  const AccuracyResults all = saved;
  AccuracyResults selected;
  selected.push_back(take(thresholds.front().fields, saved, all));
  log_ignored(saved);
  if (!known_threshold(thresholds.front())) {
    for (const char* option : {"--check-average", "--save-accuracy-results"})
      if (args.has(option))
        log::critical(ErrorCode::kInvalidArgument,
                      "{} cannot be combined with {}, whose thresholds judge by a method of their own: there "
                      "is no number "
                      "to hold a mean against or to save.",
                      option, reference.str());
    judge_by_script(selected.front(), script);
    return selected;
  }
  const ThresholdFor threshold_for = [&](const std::string& output) {
    const auto at = std::find(outputs.begin(), outputs.end(), output) - outputs.begin();
    return known_threshold(thresholds[static_cast<size_t>(at)]).value_or(Threshold());
  };
  require_statistic(threshold_for, selected);
  rethreshold(selected.front(), threshold_for);
  return selected;
}

/// The requested saved comparisons, with the requested thresholds.
AccuracyResults select(const ParsedArgs& args, AccuracyResults saved) {
  OutputNames outputs({});
  const AccuracyResults all = saved;
  AccuracyResults selected;
  const ComparisonsOfLine line = read_comparisons(args, outputs);
  std::vector<const Comparison*> taken;
  for (const poly::CompareFunc& f : line.functions) {
    const auto& function = f.function();
    if (function->function() == CompareFunction::kIndices)
      log::critical(
          ErrorCode::kInvalidArgument,
          "Results of `indices` hold a verdict and no numbers, so there is nothing to hold against other "
          "thresholds. Leave --compare out to see the saved verdicts, or run the comparison again on saved "
          "outputs (run --save-outputs / --load-outputs).");
    selected.push_back(take(metric_fields(function->function()), saved, all));
    taken.push_back(function.get());
  }
  log_ignored(saved);
  for (size_t i = 0; i < selected.size(); ++i) {
    const ThresholdFor threshold_for = [&](const std::string& output) {
      return taken[i]->threshold_for(output);
    };
    require_statistic(threshold_for, {selected[i]});
    rethreshold(selected[i], threshold_for);
  }
  return selected;
}

PairSummary summary_of(const SavedAccuracy& saved, const SavedAccuracy::Pair& pair) {
  PairAccumulator sum(pair.runner0, pair.runner1);
  for (const auto& iteration : pair.iterations) {
    PairResult result;
    result.functions.push_back({.function = saved.function,
                                .label = std::string(compare_function_label(saved.function)),
                                .outputs = iteration});
    sum.add(result);
  }
  return sum.summary();
}

void add_results(TestReport& report, const PairSummary& pair) {
  for (const FunctionSummary& f : pair.functions)
    for (const OutputSummary& o : f.outputs) {
      TestResult result{.group = pair.runner0 + " vs. " + pair.runner1,
                        .name = o.output + " (" + f.label + ")"};
      if (o.passed < o.iterations) {
        result.how = TestResult::How::kFailed;
        result.message = fmt::format("{} of {} iteration(s) failed", o.iterations - o.passed, o.iterations);
      }
      report.add(std::move(result));
    }
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = args.text("path").value();
  if (args.has("--check-average") && args.has("--fail-fast"))
    log::critical(ErrorCode::kInvalidArgument, "--check-average cannot be combined with --fail-fast.");
  context.announce();
  log::info("Loading accuracy results from {}", path);
  AccuracyResults results;
  try {
    results = load_accuracy_results(path);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInvalidArgument) throw;
    log::critical(e.code(), "{}", e.what());
  }
  // Without thresholds on the command line, the saved ones decide.
  if (const auto script = args.text("--compare-func-script"))
    results = select_by_script(args, *script, std::move(results));
  else if (has_thresholds(args))
    results = select(args, std::move(results));
  TestReport report(args, "assay check accuracy", {});
  bool passed = true;
  int64_t iterations = 0;
  for (SavedAccuracy& saved : results) {
    if (has_thresholds(args) || args.has("--check-average"))
      saved.aggregation = args.has("--check-average") ? Aggregation::kAverage : Aggregation::kPerSample;
    for (const SavedAccuracy::Pair& pair : saved.pairs) {
      if (args.has("--fail-fast") && !passed) break;
      const PairSummary summary = summary_of(saved, pair);
      iterations += summary.iterations;
      print_summary(summary, saved.aggregation);
      add_results(report, summary);
      passed = summary.passed(saved.aggregation) && passed;
    }
  }
  if (const auto save = args.text("--save-accuracy-results")) {
    log::info("Saving accuracy results to {}", *save);
    save_accuracy_results(results, *save);
  }
  report.save();
  if (iterations == 0) {
    log::error("FAILED | {} holds no result of any iteration, so nothing was checked.", path);
    return 1;
  }
  if (passed)
    log::finish("PASSED | Accuracy results passed the requested thresholds.");
  else
    log::error("FAILED | Accuracy results did not pass the requested thresholds.");
  return passed ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "accuracy",
    .summary = "Hold saved accuracy results against other thresholds.",
    .description =
        "Holds the metrics that `run --save-accuracy-results` saved against thresholds, without running "
        "anything. Without "
        "thresholds, those that were saved decide.",
    .add_options = add_options,
    .run = run,
    .traces = true,
};

}  // namespace assay::cli::command_check_accuracy
