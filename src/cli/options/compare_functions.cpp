#include "cli/options/compare_functions.h"

#include <fmt/format.h>

#include <span>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/values.h"
#include "compare/indices.h"
#include "compare/simple.h"
#include "view/error_pictures.h"

namespace assay::cli {
namespace {

std::vector<Option> simple_options() {
  return {
      {.names = {"--no-shape-check"},
       .help = "Permute or reshape outputs of different shapes instead of failing.",
       .arity = Arity::kNone},
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

void warn_about_others(const ParsedArgs& args, const std::vector<Option>& others, const char* owner,
                       const std::string& selected) {
  for (const Option& option : others)
    if (args.has(option.names.front()))
      log::warning(
          "Option: {} is only valid for comparison function: '{}'. The selected comparison function is: "
          "'{}', so this "
          "option will be ignored.",
          option.label(), owner, selected);
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
    for (const std::string& name : outputs.expand("--error-quantile", output)) result.set(name, value.as_double());
  }
  return result;
}

PerOutput<int64_t> index_tolerances(const ParsedArgs& args, OutputNames& outputs) {
  PerOutput<int64_t> result;
  for (const auto& [output, value] : numbers(args, "--index-tolerance")) {
    if (!value.is_int())
      log::critical(ErrorCode::kInvalidArgument, "--index-tolerance: {} is not an integer.", value.repr());
    for (const std::string& name : outputs.expand("--index-tolerance", output)) result.set(name, value.as_int());
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

}  // namespace

void add_simple_compare_options(ArgParser& parser) {
  parser.add_group("Comparison Function: `simple`").options = simple_options();
}

void add_indices_compare_options(ArgParser& parser) {
  parser.add_group("Comparison Function: `indices`").options = indices_options();
}

std::shared_ptr<const Comparison> read_comparison(const ParsedArgs& args, OutputNames& outputs) {
  const std::string selected = args.text("--compare").value_or("simple");
  SimpleOptions simple{.check_shapes = !args.has("--no-shape-check"),
                       .rtol = tolerances(args, outputs, "--rtol"),
                       .atol = tolerances(args, outputs, "--atol"),
                       .check_error_stat = error_stats(args, outputs),
                       .error_quantile = quantiles(args, outputs),
                       .infinities_compare_equal = args.has("--infinities-compare-equal")};
  const std::string heatmaps = args.text("--save-heatmaps").value_or("");
  const std::string plots = args.text("--save-error-metrics-plot").value_or("");
  if (!heatmaps.empty() || !plots.empty()) simple.pictures = error_pictures(heatmaps, plots);
  PerOutput<int64_t> index_tolerance = index_tolerances(args, outputs);
  if (selected == "simple") {
    warn_about_others(args, indices_options(), "indices", selected);
    return std::make_shared<SimpleComparison>(std::move(simple));
  }
  warn_about_others(args, simple_options(), "simple", selected);
  return std::make_shared<IndicesComparison>(std::move(index_tolerance), args.has("--fail-fast"));
}

}  // namespace assay::cli
