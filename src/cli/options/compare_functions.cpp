#include "cli/options/compare_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/option_effects.h"
#include "cli/values.h"
#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/simple.h"
#include "run/script_parts.h"
#include "view/error_pictures.h"

namespace assay::cli {
namespace {

std::vector<Option> simple_options() {
  return {
      {.names = {"--rtol", "--rel-tol"},
       .help = "Relative tolerance, for all outputs or for one; default: 1e-5.",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]TOL",
       .names_what = Names::kOutputs},
      {.names = {"--atol", "--abs-tol"},
       .help =
           "Absolute tolerance, for all outputs or for one; default: 1e-5. An element passes within either.",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]TOL",
       .names_what = Names::kOutputs},
      {.names = {"--check-error-stat"},
       .help = "What is held against the tolerances: elemwise (default), max, mean, median or quantile.",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]STAT",
       .names_what = Names::kOutputs},
      {.names = {"--infinities-compare-equal"},
       .help = "Infinities of one sign are equal. Otherwise their difference is NaN, which fails.",
       .arity = Arity::kNone},
      {.names = {"--save-heatmaps"},
       .help = "Folder for heatmaps of the absolute and the relative error of each output, as SVG.",
       .metavar = "DIR"},
      {.names = {"--save-error-metrics-plot"},
       .help = "Folder for plots of the errors over the magnitude of each output, as PNG.",
       .metavar = "DIR"},
      {.names = {"--error-quantile"},
       .help = "The quantile that --check-error-stat quantile checks, in [0, 1]; default: 0.99.",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]Q",
       .names_what = Names::kOutputs},
  };
}

std::vector<Option> indices_options() {
  return {
      {.names = {"--index-tolerance"},
       .help = "Places that an index may have moved, for all outputs or for one; default: 0.",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]NUM",
       .names_what = Names::kOutputs},
  };
}

/// A function whose metric is one number.
struct MetricOption {
  CompareFunction function;
  const char* choice;             ///< of --compare
  const char* alias;              ///< a choice that stands for several; null: none
  const char *name, *other_name;  ///< of the option for its threshold; the second may be null
  const char* help;
};
constexpr std::array<MetricOption, 5> kMetrics = {{
    {CompareFunction::kL2, "l2", "distance_metrics", "--l2-threshold", "--l2-tolerance",
     "The largest Euclidean distance, for all outputs or for one; default: 1e-5."},
    {CompareFunction::kCosineSimilarity, "cosine_similarity", "distance_metrics",
     "--cosine-similarity-threshold", nullptr,
     "The smallest cosine of the angle, for all outputs or for one; default: 0.997."},
    {CompareFunction::kPsnr, "psnr", "quality_metrics", "--psnr-threshold", "--psnr-tolerance",
     "The smallest peak signal-to-noise ratio in decibels, for all outputs or for one; default: 30."},
    {CompareFunction::kSnr, "snr", "quality_metrics", "--snr-threshold", "--snr-tolerance",
     "The smallest signal-to-noise ratio in decibels, for all outputs or for one; default: 20."},
    {CompareFunction::kLpips, "perceptual_metrics", nullptr, "--lpips-threshold", "--lpips-tolerance",
     "The largest perceptual distance, for all outputs or for one; default: 0.1."},
}};

Option metric_option(const MetricOption& m) {
  Option option{.names = {m.name},
                .help = m.help,
                .arity = Arity::kAtLeastOne,
                .metavar = "[OUTPUT:]VALUE",
                .names_what = Names::kOutputs};
  if (m.other_name != nullptr) option.names.emplace_back(m.other_name);
  return option;
}

/// The functions that the words of --compare stand for, each once.
std::vector<CompareFunction> selected_functions(const std::vector<std::string>& words) {
  std::vector<CompareFunction> functions;
  const auto add = [&](CompareFunction f) {
    if (std::find(functions.begin(), functions.end(), f) == functions.end()) functions.push_back(f);
  };
  for (const std::string& word : words) {
    if (word == "simple") add(CompareFunction::kSimple);
    if (word == "indices") add(CompareFunction::kIndices);
    for (const MetricOption& m : kMetrics)
      if (word == m.choice || (m.alias != nullptr && word == m.alias)) add(m.function);
  }
  return functions;
}

void warn_about_unselected(const ParsedArgs& args, const std::vector<Option>& options, CompareFunction owner,
                           const std::vector<std::string>& choices_for,
                           const std::vector<std::string>& words) {
  const std::vector<CompareFunction> selected = selected_functions(words);
  if (std::find(selected.begin(), selected.end(), owner) != selected.end()) return;
  // Saved results may be of other functions than those that are named.
  const bool is_error = refuses_idle_options(args) && args.declares("--trt");
  for (const Option& option : options)
    if (is_error && args.has(option.names.front()))
      log::critical(ErrorCode::kInvalidArgument,
                    "{} has no effect: it is about the comparison function(s) {}, and those that compare are "
                    "{}. Name one "
                    "with --compare, or leave it out.",
                    option.label(), python_list_repr(choices_for), python_list_repr(words));
    else if (args.has(option.names.front()))
      log::warning(
          "Option: {} is only valid for comparison function(s): {}. The selected comparison functions are: "
          "{}, so this "
          "option will be ignored.",
          option.label(), python_list_repr(choices_for), python_list_repr(words));
}

KeyValues numbers(const ParsedArgs& args, const char* option) {
  const auto words = args.list(option);
  return words ? parse_key_numbers(option, *words) : KeyValues{};
}

PerOutput<Tolerance> tolerances(const ParsedArgs& args, OutputNames& outputs, const char* option) {
  PerOutput<Tolerance> result;
  for (const auto& [output, value] : numbers(args, option))
    for (const std::string& name : outputs.expand(option, output))
      result.set(name, value.is_int() ? Tolerance(value.as_int()) : Tolerance(value.as_double()));
  return result;
}

PerOutput<double> quantiles(const ParsedArgs& args, OutputNames& outputs) {
  PerOutput<double> result;
  for (const auto& [output, value] : numbers(args, "--error-quantile")) {
    if (!(value.as_double() >= 0 && value.as_double() <= 1))
      log::critical(ErrorCode::kInvalidArgument, "--error-quantile: {} is not between 0 and 1.",
                    value.repr());
    for (const std::string& name : outputs.expand("--error-quantile", output))
      result.set(name, value.as_double());
  }
  return result;
}

PerOutput<int64_t> index_tolerances(const ParsedArgs& args, OutputNames& outputs) {
  PerOutput<int64_t> result;
  for (const auto& [output, value] : numbers(args, "--index-tolerance")) {
    if (!value.is_int())
      log::critical(ErrorCode::kInvalidArgument, "--index-tolerance: {} is not an integer.", value.repr());
    for (const std::string& name : outputs.expand("--index-tolerance", output))
      result.set(name, value.as_int());
  }
  return result;
}

PerOutput<ErrorStat> error_stats(const ParsedArgs& args, OutputNames& outputs) {
  PerOutput<ErrorStat> result;
  for (const auto& [output, text] :
       parse_key_texts(args.list("--check-error-stat").value_or(std::vector<std::string>{}))) {
    const auto stat = error_stat_from_name(text);
    if (!stat)
      log::critical(ErrorCode::kInvalidArgument,
                    "Invalid choice for check_error_stat: {}.\n"
                    "Note: Valid choices are: ['max', 'mean', 'median', 'elemwise', 'quantile']",
                    text);
    for (const std::string& name : outputs.expand("--check-error-stat", output)) result.set(name, *stat);
  }
  return result;
}

bool has_quantile(const ParsedArgs& args) {
  for (const auto& [output, text] :
       parse_key_texts(args.list("--check-error-stat").value_or(std::vector<std::string>{})))
    if (text == "quantile") return true;
  return false;
}

}  // namespace

void add_compare_function_options(ArgParser& parser) {
  parser.add_group("Comparison Function: `simple`").options = simple_options();
  parser.add_group("Comparison Function: `indices`").options = indices_options();
  for (const MetricOption& m : kMetrics)
    parser.add_group(fmt::format("Comparison Function: `{}`", m.choice)).options = {metric_option(m)};
}

const std::vector<std::string>& comparison_choices() {
  static const std::vector<std::string> kChoices = {
      "simple",          "indices",           "l2", "cosine_similarity", "distance_metrics", "psnr", "snr",
      "quality_metrics", "perceptual_metrics"};
  return kChoices;
}

Option compare_option(extension::Modules modules) {
  Option option{.names = {"--compare", "--compare-func"},
                .help = "The comparison functions; default: simple. Every one has to pass.",
                .arity = Arity::kAtLeastOne,
                .choices = comparison_choices()};
  for (std::string& name : extension::comparison_names(modules)) option.choices.push_back(std::move(name));
  return option;
}

Option shape_check_option() {
  return {.names = {"--no-shape-check"},
          .help = "Permute or reshape outputs of different shapes instead of failing.",
          .arity = Arity::kNone};
}

std::vector<std::shared_ptr<const Comparison>> read_comparisons(const ParsedArgs& args, OutputNames& outputs,
                                                                extension::Modules modules) {
  const std::vector<std::string> words = args.list("--compare").value_or(std::vector<std::string>{"simple"});
  warn_about_unselected(args, simple_options(), CompareFunction::kSimple, {"simple"}, words);
  warn_about_unselected(args, indices_options(), CompareFunction::kIndices, {"indices"}, words);
  for (const MetricOption& m : kMetrics) {
    std::vector<std::string> named = {m.choice};
    if (m.alias != nullptr) named.emplace_back(m.alias);
    warn_about_unselected(args, {metric_option(m)}, m.function, named, words);
  }
  const bool check_shapes = !args.has("--no-shape-check");
  SimpleOptions simple{.check_shapes = check_shapes,
                       .rtol = tolerances(args, outputs, "--rtol"),
                       .atol = tolerances(args, outputs, "--atol"),
                       .check_error_stat = error_stats(args, outputs),
                       .error_quantile = quantiles(args, outputs),
                       .infinities_compare_equal = args.has("--infinities-compare-equal")};
  PerOutput<int64_t> index_tolerance = index_tolerances(args, outputs);
  if (refuses_idle_options(args) && args.declares("--trt") && args.has("--error-quantile") &&
      !has_quantile(args))
    log::critical(
        ErrorCode::kInvalidArgument,
        "--error-quantile has no effect: no output is checked by its quantile. Add --check-error-stat "
        "quantile.");
  std::vector<std::shared_ptr<const Comparison>> functions;
  for (const CompareFunction f : selected_functions(words)) {
    if (f == CompareFunction::kSimple) {
      functions.push_back(std::make_shared<SimpleComparison>(simple));
    } else if (f == CompareFunction::kIndices) {
      functions.push_back(std::make_shared<IndicesComparison>(index_tolerance));
    } else if (f == CompareFunction::kLpips) {
      functions.push_back(std::make_shared<MetricComparison>(
          f, MetricOptions{.check_shapes = check_shapes,
                           .threshold = tolerances(args, outputs, "--lpips-threshold"),
                           .measure = lpips_measure()}));
    } else {
      const auto m =
          std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& o) { return o.function == f; });
      functions.push_back(std::make_shared<MetricComparison>(
          f, MetricOptions{.check_shapes = check_shapes, .threshold = tolerances(args, outputs, m->name)}));
    }
  }
  for (const std::string& name : extension::comparison_names(modules))
    if (std::find(words.begin(), words.end(), name) != words.end())
      functions.push_back(extension::find_comparison(modules, name));
  return functions;
}

bool chooses_comparison(const ParsedArgs& args) {
  const char* const kSimple[] = {"--compare", "--atol", "--rtol", "--check-error-stat", "--error-quantile"};
  return std::any_of(std::begin(kSimple), std::end(kSimple), [&](const char* o) { return args.has(o); });
}

std::shared_ptr<ErrorPictures> read_error_pictures(const ParsedArgs& args) {
  const std::string heatmaps = args.text("--save-heatmaps").value_or("");
  const std::string plots = args.text("--save-error-metrics-plot").value_or("");
  return heatmaps.empty() && plots.empty() ? nullptr : error_pictures(heatmaps, plots);
}

}  // namespace assay::cli
