#include "cli/options/comparator.h"

#include <algorithm>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/option_effects.h"
#include "cli/options/compare_functions.h"
#include "cli/values.h"
#include "compare/postprocess.h"
#include "run/python_parse.h"
#include "run/script_parts.h"
#include "script/compare_script.h"
#include "script/postprocess_script.h"

namespace assay::cli {
namespace {

/// Upstream removes any of these characters from the left of the number.
std::string without_leading(std::string text, const char* characters) {
  return text.substr(std::min(text.find_first_not_of(characters), text.size()));
}

TopK parse_top_k(const std::string& text) {
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
  return {.k = *k, .axis = *axis};
}

}  // namespace

void add_comparator_options(ArgParser& parser, extension::Modules modules) {
  parser.add_group("Comparator Inference").options = {
      {.names = {"--sequential-runners"},
       .help = "Run one runner after the other, all iterations of each, instead of all runners in each "
               "iteration. Keeps "
               "the results of all iterations.",
       .arity = Arity::kNone},
      {.names = {"--warm-up"},
       .help = "Runs of each runner that do not count, before those that do; default: 0. Needs "
               "--sequential-runners, and "
               "turns it on.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--use-subprocess"},
       .help = "Run each runner in a process of its own. Needs --sequential-runners, and turns it on.",
       .arity = Arity::kNone},
      {.names = {"--save-inputs", "--save-input-data"},
       .help = "Save the inputs as JSON: in one file, or, where the path has no extension, in a folder with "
               "a file per "
               "iteration.",
       .metavar = "PATH"},
      {.names = {"--save-outputs", "--save-results"},
       .help = "Save the outputs of all runners as JSON: in one file, or, where the path has no extension, "
               "in a folder "
               "with a file per iteration.",
       .metavar = "PATH"},
      {.names = {"--save-input-blob"},
       .help = "Save the raw bytes of each input in DIR/ITERATION/NAME.bin; default: the current folder.",
       .arity = Arity::kOptional,
       .metavar = "DIR"},
  };
  parser.add_group("Comparator Postprocessing").options = {
      {.names = {"--postprocess", "--postprocess-func"},
       .help = "Replace outputs before they are compared: top-K by the indices of the K largest values along "
               "an axis (default: the last).",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]top-K[,axis=A]",
       .names_what = Names::kOutputs},
      {.names = {"--postprocess-func-script"},
       .help = "Replace outputs by what a function of this script (postprocess_outputs, unless it is named) "
               "makes of an iteration's. "
               "Python (.py), C++ (.cpp) or a library (.so).",
       .metavar = "FILE[:FUNCTION]"},
  };
  parser.add_group("Comparator Comparisons").options = {
      {.names = {"--validate"},
       .help = "Fail when an output holds a NaN or an infinity.",
       .arity = Arity::kNone},
      {.names = {"--fail-fast"}, .help = "Stop at the first mismatch.", .arity = Arity::kNone},
      compare_option(modules),
      {.names = {"--compare-func-script"},
       .help = "Compare with a function of this script (compare_outputs, unless it is named), which gets one "
               "iteration of two runners and "
               "says of each output whether they agree. Python (.py), C++ (.cpp) or a library (.so).",
       .metavar = "FILE[:FUNCTION]"},
      shape_check_option(),
      {.names = {"--check-average"},
       .help =
           "The mean of each metric over all iterations decides, not each iteration. Of `simple` it needs a "
           "--check-error-stat other than elemwise.",
       .arity = Arity::kNone},
      {.names = {"--save-accuracy-results"},
       .help = "Save what every function measured as JSON, for `check accuracy`.",
       .metavar = "FILE"},
      {.names = {"--load-outputs", "--load-results"},
       .help = "Compare with the outputs that these files, or folders with a file per iteration, hold.",
       .arity = Arity::kAtLeastOne,
       .metavar = "PATH"},
      {.names = {"--arbiter"},
       .help = "Tell which outputs are wrong, against the float64 reference and the error that rounding "
               "explains. On by itself when --ref runs. Decides whether the run passes, together with "
               "tolerances that are given.",
       .arity = Arity::kNone},
      {.names = {"--arbiter-samples"},
       .help = "Noisy evaluations that measure what rounding explains; default: 3, and 15 where those leave "
               "it open.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--save-verdict"}, .help = "Save the verdict on every output as JSON.", .metavar = "FILE"},
      {.names = {"--no-trace"},
       .help = "Do not run again with every layer marked where an output seems wrong.",
       .arity = Arity::kNone},
      {.names = {"--no-excuse"},
       .help = "Judge without these excuses, by the names that a verdict and its table in the documentation "
               "give them: what such an excuse alone explains is then unclear or wrong.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME"},
      {.names = {"--partial"},
       .help = "Judge results of --load-outputs that lack outputs or iterations of this run, or hold others, "
               "instead of refusing them.",
       .arity = Arity::kNone},
  };
  add_compare_function_options(parser);
}

void read_comparator_options(const ParsedArgs& args, RunOptions& options, extension::Modules modules) {
  OutputNames outputs(options.model);
  options.warm_up = require_at_least("--warm-up", args.integer("--warm-up").value_or(0), 0);
  options.use_subprocess = args.has("--use-subprocess");
  options.sequential_runners = args.has("--sequential-runners");
  for (const char* option : {"--warm-up", "--use-subprocess"})
    if (!options.sequential_runners && args.has(option)) {
      log::warning("{} needs runners that run one after the other: --sequential-runners is turned on.",
                   option);
      options.sequential_runners = true;
    }
  options.save_inputs = args.text("--save-inputs").value_or("");
  options.save_outputs = args.text("--save-outputs").value_or("");
  if (const auto given = args.all("--save-input-blob"); !given.empty())
    options.save_input_blobs = given.back().empty() ? "." : given.back().front();
  options.save_accuracy_results = args.text("--save-accuracy-results").value_or("");
  options.check_average = args.has("--check-average");
  options.load_outputs = args.list("--load-outputs").value_or(std::vector<std::string>{});
  PerOutput<TopK> top_k;
  for (const auto& [output, text] :
       parse_key_texts(args.list("--postprocess").value_or(std::vector<std::string>{}))) {
    if (auto of_module = extension::find_postprocess(modules, text)) {
      if (!output.empty() || options.postprocess != nullptr)
        log::critical(ErrorCode::kInvalidArgument,
                      "--postprocess: {} is a function of an extension, which gets all outputs. Name it "
                      "alone, and no other.",
                      text);
      options.postprocess = std::move(of_module);
      continue;
    }
    for (const std::string& name : outputs.expand("--postprocess", output))
      top_k.set(name, parse_top_k(text));
  }
  if (!top_k.empty() && options.postprocess != nullptr)
    log::critical(ErrorCode::kInvalidArgument,
                  "--postprocess: {} is a function of an extension, which gets all outputs. Name it alone, "
                  "and no other.",
                  options.postprocess->name());
  if (!top_k.empty()) options.postprocess = std::make_shared<TopKPostprocess>(std::move(top_k));
  options.validate = args.has("--validate");
  options.fail_fast = args.has("--fail-fast");
  options.functions = read_comparisons(args, outputs, modules);
  options.comparison_chosen = chooses_comparison(args);
  if (const auto script = args.text("--postprocess-func-script")) {
    if (options.postprocess != nullptr && refuses_idle_options(args))
      log::critical(
          ErrorCode::kInvalidArgument,
          "--postprocess/--postprocess-func has no effect: --postprocess-func-script replaces the outputs. "
          "Give one of the two.");
    if (options.postprocess != nullptr)
      log::warning(
          "Argument: '--postprocess/--postprocess-func' will be ignored since '--postprocess-func-script' "
          "was provided.");
    options.postprocess =
        script_postprocess(script::parse_reference(*script, script::PostprocessScript::kDefaultFunction));
  }
  if (const auto script = args.text("--compare-func-script")) {
    if (args.has("--compare") && refuses_idle_options(args))
      log::critical(
          ErrorCode::kInvalidArgument,
          "--compare/--compare-func has no effect: --compare-func-script compares. Give one of the two.");
    if (args.has("--compare"))
      log::warning(
          "Argument: '--compare/--compare-func' will be ignored since '--compare-func-script' was provided.");
    options.functions = {
        script_comparison(script::parse_reference(*script, script::CompareScript::kDefaultFunction))};
    options.comparison_chosen = true;
  }
  options.arbiter.samples = static_cast<int>(
      require_at_least("--arbiter-samples", args.integer("--arbiter-samples").value_or(3), 1));
  options.arbitrate = args.has("--arbiter") || args.has("--arbiter-samples");
  options.arbiter.most_samples =
      args.has("--arbiter-samples") ? options.arbiter.samples : options.arbiter.most_samples;
  options.save_verdict = args.text("--save-verdict").value_or("");
  options.arbitrate = options.arbitrate || !options.save_verdict.empty();
  options.arbiter.no_excuses = args.list("--no-excuse").value_or(std::vector<std::string>{});
  require_excuses(options.arbiter.no_excuses);
  options.trace = !args.has("--no-trace");
  options.partial = args.has("--partial");
}

}  // namespace assay::cli
