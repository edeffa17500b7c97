#include "cli/options/comparator.h"

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/options/compare_functions.h"
#include "cli/values.h"
#include "run/python_parse.h"

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

void add_comparator_options(ArgParser& parser) {
  parser.add_group("Comparator Inference").options = {
      {.names = {"--warm-up"},
       .help = "Runs of each runner that do not count, before those that do; default: 0.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--use-subprocess"},
       .help = "Run each runner in a process of its own.",
       .arity = Arity::kNone},
      {.names = {"--save-inputs", "--save-input-data"},
       .help = "Save the inputs as JSON.",
       .metavar = "FILE"},
      {.names = {"--save-outputs", "--save-results"},
       .help = "Save the outputs of all runners as JSON.",
       .metavar = "FILE"},
  };
  parser.add_group("Comparator Postprocessing").options = {
      {.names = {"--postprocess", "--postprocess-func"},
       .help = "Replace outputs before they are compared: top-K by the indices of the K largest values along "
               "an axis (default: the last).",
       .arity = Arity::kAtLeastOne,
       .metavar = "[OUTPUT:]top-K[,axis=A]",
       .names_what = Names::kOutputs},
  };
  parser.add_group("Comparator Comparisons").options = {
      {.names = {"--validate"},
       .help = "Fail when an output holds a NaN or an infinity.",
       .arity = Arity::kNone},
      {.names = {"--fail-fast"}, .help = "Stop at the first mismatch.", .arity = Arity::kNone},
      {.names = {"--compare", "--compare-func"},
       .help = "The comparison function; default: simple.",
       .choices = {"simple", "indices"}},
      {.names = {"--load-outputs", "--load-results"},
       .help = "Compare with the outputs that these files hold.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FILE"},
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
      {.names = {"--partial"},
       .help = "Judge results of --load-outputs that lack outputs or iterations of this run, or hold others, "
               "instead of refusing them.",
       .arity = Arity::kNone},
  };
  add_simple_compare_options(parser);
  add_indices_compare_options(parser);
}

void read_comparator_options(const ParsedArgs& args, RunOptions& options) {
  OutputNames outputs(options.model);
  options.warm_up = require_at_least("--warm-up", args.integer("--warm-up").value_or(0), 0);
  options.use_subprocess = args.has("--use-subprocess");
  options.save_inputs = args.text("--save-inputs").value_or("");
  options.save_outputs = args.text("--save-outputs").value_or("");
  options.load_outputs = args.list("--load-outputs").value_or(std::vector<std::string>{});
  for (const auto& [output, text] :
       parse_key_texts(args.list("--postprocess").value_or(std::vector<std::string>{})))
    for (const std::string& name : outputs.expand("--postprocess", output)) options.top_k.set(name, parse_top_k(text));
  options.validate = args.has("--validate");
  options.fail_fast = args.has("--fail-fast");
  options.comparison = read_comparison(args, outputs);
  options.arbiter.samples = static_cast<int>(
      require_at_least("--arbiter-samples", args.integer("--arbiter-samples").value_or(3), 1));
  options.arbitrate = args.has("--arbiter") || args.has("--arbiter-samples");
  options.arbiter.most_samples =
      args.has("--arbiter-samples") ? options.arbiter.samples : options.arbiter.most_samples;
  options.save_verdict = args.text("--save-verdict").value_or("");
  options.arbitrate = options.arbitrate || !options.save_verdict.empty();
  options.trace = !args.has("--no-trace");
  options.partial = args.has("--partial");
  for (const char* chosen : {"--compare", "--atol", "--rtol", "--check-error-stat", "--error-quantile"})
    options.comparison_chosen = options.comparison_chosen || args.has(chosen);
}

}  // namespace assay::cli
