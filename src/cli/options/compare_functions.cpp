#include "cli/options/compare_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/option_effects.h"
#include "cli/values.h"
#include "compare/simple.h"
#include "poly/run_table.h"

namespace assay::cli {
namespace {

std::vector<Option> options_of_function(const char* function) {
  return poly::options_of(fmt::format("Comparison Function: `{}`", function));
}

/// A function whose metric is one number.
struct MetricOption {
  CompareFunction function;
  const char* choice;  ///< of --compare
  const char* alias;   ///< the alias of a group of choices; null: none
  const char* name;    ///< of the option for its threshold
  poly::CompareFunc (*make)(const poly::ByOutput<poly::Number>& threshold, bool check_shapes);
};
constexpr std::array<MetricOption, 5> kMetrics = {{
    {CompareFunction::kL2, "l2", "distance_metrics", "--l2-threshold", poly::CompareFunc::l2},
    {CompareFunction::kCosineSimilarity, "cosine_similarity", "distance_metrics",
     "--cosine-similarity-threshold", poly::CompareFunc::cosine_similarity},
    {CompareFunction::kPsnr, "psnr", "quality_metrics", "--psnr-threshold", poly::CompareFunc::psnr},
    {CompareFunction::kSnr, "snr", "quality_metrics", "--snr-threshold", poly::CompareFunc::snr},
    {CompareFunction::kLpips, "perceptual_metrics", nullptr, "--lpips-threshold",
     poly::CompareFunc::perceptual_metrics},
}};

/// The functions that the words of --compare name, each once.
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
  // Saved results may come from functions that are not named.
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

/// As PerOutput does it: a later value of a name replaces the earlier one.
template <typename T>
class OutputValues {
 public:
  OutputValues(OutputNames& outputs, const char* option) : outputs_(outputs), option_(option) {}
  void set(const std::string& output, const T& value) {
    for (const std::string& name : outputs_.expand(option_, output)) {
      const auto it =
          std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
      if (it == entries_.end())
        entries_.emplace_back(name, value);
      else
        it->second = value;
    }
  }
  poly::ByOutput<T> values() const { return poly::ByOutput<T>::of(entries_); }

 private:
  OutputNames& outputs_;
  const char* option_;
  std::vector<std::pair<std::string, T>> entries_;
};

poly::ByOutput<poly::Number> tolerances(const ParsedArgs& args, OutputNames& outputs, const char* option) {
  OutputValues<poly::Number> result(outputs, option);
  for (const auto& [output, value] : numbers(args, option))
    result.set(output, value.is_int() ? poly::Number(value.as_int()) : poly::Number(value.as_double()));
  return result.values();
}

poly::ByOutput<poly::Number> quantiles(const ParsedArgs& args, OutputNames& outputs) {
  OutputValues<poly::Number> result(outputs, "--error-quantile");
  for (const auto& [output, value] : numbers(args, "--error-quantile")) {
    if (!(value.as_double() >= 0 && value.as_double() <= 1))
      log::critical(ErrorCode::kInvalidArgument, "--error-quantile: {} is not between 0 and 1.",
                    value.repr());
    result.set(output, value.as_double());
  }
  return result.values();
}

poly::ByOutput<int64_t> index_tolerances(const ParsedArgs& args, OutputNames& outputs) {
  OutputValues<int64_t> result(outputs, "--index-tolerance");
  for (const auto& [output, value] : numbers(args, "--index-tolerance")) {
    if (!value.is_int())
      log::critical(ErrorCode::kInvalidArgument, "--index-tolerance: {} is not an integer.", value.repr());
    result.set(output, value.as_int());
  }
  return result.values();
}

poly::ByOutput<std::string> error_stats(const ParsedArgs& args, OutputNames& outputs) {
  OutputValues<std::string> result(outputs, "--check-error-stat");
  for (const auto& [output, text] :
       parse_key_texts(args.list("--check-error-stat").value_or(std::vector<std::string>{}))) {
    if (!error_stat_from_name(text))
      log::critical(ErrorCode::kInvalidArgument,
                    "Invalid choice for check_error_stat: {}.\n"
                    "Note: Valid choices are: ['max', 'mean', 'median', 'elemwise', 'quantile']",
                    text);
    result.set(output, text);
  }
  return result.values();
}

bool has_quantile(const ParsedArgs& args) {
  for (const auto& [output, text] :
       parse_key_texts(args.list("--check-error-stat").value_or(std::vector<std::string>{})))
    if (text == "quantile") return true;
  return false;
}

}  // namespace

void add_compare_function_options(ArgParser& parser) {
  for (const poly::RunGroup& group : poly::run_groups())
    if (group.title.starts_with("Comparison Function: "))
      parser.add_group(std::string(group.title)).options = poly::options_of(group.title);
}

const std::vector<std::string>& comparison_choices() {
  return poly::find_run_option("--compare")->option.choices;
}

Option compare_option(extension::Modules modules) {
  Option option = poly::find_run_option("--compare")->option;
  for (std::string& name : extension::comparison_names(modules)) option.choices.push_back(std::move(name));
  return option;
}

Option shape_check_option() { return poly::find_run_option("--no-shape-check")->option; }

ComparisonsOfLine read_comparisons(const ParsedArgs& args, OutputNames& outputs, extension::Modules modules) {
  const std::vector<std::string> words = args.list("--compare").value_or(std::vector<std::string>{"simple"});
  warn_about_unselected(args, options_of_function("simple"), CompareFunction::kSimple, {"simple"}, words);
  warn_about_unselected(args, options_of_function("indices"), CompareFunction::kIndices, {"indices"}, words);
  for (const MetricOption& m : kMetrics) {
    std::vector<std::string> named = {m.choice};
    if (m.alias != nullptr) named.emplace_back(m.alias);
    warn_about_unselected(args, options_of_function(m.choice), m.function, named, words);
  }
  const bool check_shapes = !args.has("--no-shape-check");
  const poly::CompareFunc::Simple simple{.atol = tolerances(args, outputs, "--atol"),
                                         .rtol = tolerances(args, outputs, "--rtol"),
                                         .check_error_stat = error_stats(args, outputs),
                                         .error_quantile = quantiles(args, outputs),
                                         .check_shapes = check_shapes,
                                         .infinities_compare_equal = args.has("--infinities-compare-equal")};
  const poly::ByOutput<int64_t> index_tolerance = index_tolerances(args, outputs);
  if (refuses_idle_options(args) && args.declares("--trt") && args.has("--error-quantile") &&
      !has_quantile(args))
    log::critical(
        ErrorCode::kInvalidArgument,
        "--error-quantile has no effect: no output is checked by its quantile. Add --check-error-stat "
        "quantile.");
  ComparisonsOfLine all;
  for (const CompareFunction f : selected_functions(words)) {
    if (f == CompareFunction::kSimple) {
      all.functions.push_back(poly::CompareFunc::simple(simple));
    } else if (f == CompareFunction::kIndices) {
      all.functions.push_back(poly::CompareFunc::indices(index_tolerance));
    } else {
      const auto m =
          std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& o) { return o.function == f; });
      all.functions.push_back(m->make(tolerances(args, outputs, m->name), check_shapes));
    }
  }
  for (const std::string& name : extension::comparison_names(modules))
    if (std::find(words.begin(), words.end(), name) != words.end()) all.of_modules.push_back(name);
  return all;
}

const char* threshold_option(std::string_view function) {
  return std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& m) { return m.choice == function; })
      ->name;
}

bool chooses_comparison(const ParsedArgs& args) {
  const char* const kSimple[] = {"--compare", "--atol", "--rtol", "--check-error-stat", "--error-quantile"};
  return std::any_of(std::begin(kSimple), std::end(kSimple), [&](const char* o) { return args.has(o); });
}

}  // namespace assay::cli
