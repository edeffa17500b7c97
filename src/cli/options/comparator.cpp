#include "cli/options/comparator.h"

#include <algorithm>

#include "base/log.h"
#include "cli/option_effects.h"
#include "cli/options/compare_functions.h"
#include "cli/run_part.h"
#include "cli/values.h"
#include "run/python_parse.h"

namespace assay::cli {
namespace {

/// Upstream removes any of these characters from the left of the number.
std::string without_leading(std::string text, const char* characters) {
  return text.substr(std::min(text.find_first_not_of(characters), text.size()));
}

/// K and the axis.
std::pair<int64_t, int64_t> parse_top_k(const std::string& text) {
  if (!text.starts_with("top-"))
    log::critical(ErrorCode::kInvalidArgument,
                  "Invalid post-processing function: {}. Note: Valid choices are: ['top-<K>'].", text);
  const size_t comma = text.find(',');
  const auto k = python_int(without_leading(text.substr(0, comma), "top-"));
  std::optional<int64_t> axis = -1;
  if (comma != std::string::npos) axis = python_int(without_leading(text.substr(comma + 1), "axis="));
  if (!k || !axis)
    log::critical(ErrorCode::kInvalidArgument,
                  "--postprocess: could not parse {}. Expected top-K or top-K,axis=A with integers K and A.",
                  text);
  return {*k, *axis};
}

/// The post-processing of --postprocess: top elements of outputs, or a function of a module.
void read_postprocess(const ParsedArgs& args, OutputNames& outputs, extension::Modules modules,
                      poly::RunSettings& s) {
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> top_k;
  std::string& of_module = s.extensions.postprocess;
  const auto refuse = [](const std::string& name) {
    log::critical(ErrorCode::kInvalidArgument,
                  "--postprocess: {} is a function of an extension, which gets all outputs. Name it "
                  "alone, and no other.",
                  name);
  };
  for (const auto& [output, text] :
       parse_key_texts(args.list("--postprocess").value_or(std::vector<std::string>{}))) {
    if (extension::find_postprocess(modules, text) != nullptr) {
      if (!output.empty() || !of_module.empty()) refuse(text);
      of_module = text;
      continue;
    }
    for (const std::string& name : outputs.expand("--postprocess", output)) {
      const auto parsed = parse_top_k(text);
      const auto it =
          std::find_if(top_k.begin(), top_k.end(), [&](const auto& k) { return k.first == name; });
      if (it == top_k.end())
        top_k.emplace_back(name, parsed);
      else
        it->second = parsed;
    }
  }
  if (!top_k.empty() && !of_module.empty()) refuse(of_module);
  if (!top_k.empty()) s.postprocess = poly::PostprocessFunc::top_k(std::move(top_k));
}

/// A script replaces --postprocess.
void read_postprocess_script(const ParsedArgs& args, poly::RunSettings& s) {
  const auto script = args.text("--postprocess-func-script");
  if (!script) return;
  const bool replaces = s.postprocess.has_value() || !s.extensions.postprocess.empty();
  if (replaces && refuses_idle_options(args))
    log::critical(
        ErrorCode::kInvalidArgument,
        "--postprocess/--postprocess-func has no effect: --postprocess-func-script replaces the outputs. "
        "Give one of the two.");
  if (replaces)
    log::warning(
        "Argument: '--postprocess/--postprocess-func' will be ignored since '--postprocess-func-script' "
        "was provided.");
  s.extensions.postprocess.clear();
  s.postprocess = poly::PostprocessFunc::script(*script);
}

/// A script replaces --compare.
void read_compare_script(const ParsedArgs& args, poly::RunSettings& s) {
  const auto script = args.text("--compare-func-script");
  if (!script) return;
  if (args.has("--compare") && refuses_idle_options(args))
    log::critical(
        ErrorCode::kInvalidArgument,
        "--compare/--compare-func has no effect: --compare-func-script compares. Give one of the two.");
  if (args.has("--compare"))
    log::warning(
        "Argument: '--compare/--compare-func' will be ignored since '--compare-func-script' was provided.");
  s.extensions.compare_funcs.clear();
  s.compare_funcs = {poly::CompareFunc::script(*script)};
  s.verdict.comparison_counts = true;
}

}  // namespace

void add_comparator_options(ArgParser& parser, extension::Modules modules) {
  for (const char* title : {"Comparator Inference", "Comparator Postprocessing", "Comparator Comparisons"}) {
    OptionGroup& group = parser.add_group(title);
    group.options = poly::options_of(title);
    for (Option& o : group.options)
      if (o.names.front() == "--compare") o = compare_option(modules);
  }
  add_compare_function_options(parser);
}

namespace {

void read_order(const ParsedArgs& args, poly::RunSettings& s) {
  read_run_part(args, poly::RunPart::kOrder, s);
  for (const char* option : {"--warm-up", "--use-subprocess"})
    if (!s.sequential_runners && args.has(option)) {
      log::warning("{} needs runners that run one after the other: --sequential-runners is turned on.",
                   option);
      s.sequential_runners = true;
    }
}

}  // namespace

void read_comparison_settings(const ParsedArgs& args, const ModelLoaderOptions& model,
                              const extension::Registries& registries, poly::RunSettings& s) {
  const extension::Modules modules = registries.extensions;
  OutputNames outputs(model);
  read_order(args, s);
  for (const poly::RunPart part :
       {poly::RunPart::kComparison, poly::RunPart::kVerdict, poly::RunPart::kOutput})
    read_run_part(args, part, s);
  read_postprocess(args, outputs, modules, s);
  ComparisonsOfLine comparisons = read_comparisons(args, outputs, modules);
  s.compare_funcs = std::move(comparisons.functions);
  s.extensions.compare_funcs = std::move(comparisons.of_modules);
  s.verdict.comparison_counts = chooses_comparison(args);
  read_postprocess_script(args, s);
  read_compare_script(args, s);
  if (const auto samples = args.integer("--arbiter-samples")) {
    s.verdict.judge = true;
    s.verdict.samples = s.verdict.most_samples =
        static_cast<int>(require_at_least("--arbiter-samples", *samples, 1));
  }
}

}  // namespace assay::cli
