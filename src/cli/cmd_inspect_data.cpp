// assay inspect data: saved inputs and outputs.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/values.h"
#include "inspect/data_text.h"
#include "inspect/text_block.h"
#include "run/results.h"

namespace assay::cli::command_inspect_data {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Data").options = {
      {.names = {"path"}, .help = "Inputs or outputs that `run` saved.", .metavar = "FILE"},
      {.names = {"-a", "--all"}, .help = "Show every iteration, not only the first.", .arity = Arity::kNone},
      {.names = {"-s", "--show-values"}, .help = "Show the values too.", .arity = Arity::kNone},
      {.names = {"--histogram"}, .help = "Show how the values are distributed.", .arity = Arity::kNone},
      {.names = {"-n", "--num-items"},
       .help = "Values to show at either end of an axis of a long array; -1 for all. Default: 3.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
      {.names = {"--line-width"},
       .help = "Columns of the values; -1 to break lines only at the ends of axes. Default: 75.",
       .metavar = "NUM",
       .kind = ValueKind::kInteger},
  };
}

/// The text of a list of iterations, of which there may be one to show or all.
class IterationsText {
 public:
  IterationsText(ArrayTextOptions options, bool all) : options_(options), all_(all) {}

  void begin(size_t iterations) { level_ = all_ && iterations > 1 ? 2 : 1; }
  /// Nothing is added for an iteration that is not shown. One array is in memory at a time.
  void add(const StoredTensorList& arrays, size_t index) {
    if (index > 0 && !all_) return;
    if (level_ == 2) text += fmt::format("\n-- Iteration: {}", index);
    for (const auto& [name, stored] : arrays) text += array_text(name, stored.load(), options_, level_);
    if (level_ == 2) text += "\n";
  }

  std::string text;

 private:
  ArrayTextOptions options_;
  bool all_;
  int level_ = 1;
};

std::string results_text(const RunResults& results, IterationsText printer) {
  printer.text = fmt::format("==== Run Results ({} runners) ====\n\n", results.runners.size());
  size_t width = 0;
  for (const auto& [name, iterations] : results.runners) width = std::max(width, name.size());
  for (const auto& [name, iterations] : results.runners) {
    printer.text += fmt::format("---- {:<{}} ({} iterations) ----\n", name, width, iterations.size());
    printer.begin(iterations.size());
    for (size_t i = 0; i < iterations.size(); ++i) printer.add(iterations[i].outputs, i);
    printer.text += "\n";
  }
  return printer.text;
}

std::string inputs_text(const InputData& inputs, IterationsText printer) {
  printer.text = fmt::format("==== Data ({} iterations) ====\n", inputs.size());
  printer.begin(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) printer.add(inputs[i], i);
  return printer.text;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  ArrayTextOptions options;
  options.values = args.has("-s");
  options.histogram = args.has("--histogram");
  options.edge_items = require_at_least("--num-items", args.integer("-n").value_or(options.edge_items), -1);
  options.line_width =
      require_at_least("--line-width", args.integer("--line-width").value_or(options.line_width), -1);
  const ResultsOrInputs data = load_results_or_inputs(args.text("path").value());
  const IterationsText printer(options, args.has("-a"));
  const auto* results = std::get_if<RunResults>(&data);
  const std::string text =
      results != nullptr ? results_text(*results, printer) : inputs_text(std::get<InputData>(data), printer);
  log::info("{}", stripped(text));
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "data",
    .summary = "Show saved inputs and outputs.",
    .description =
        "Shows what files of inputs or outputs hold: types, shapes, statistics and, if wanted, "
        "histograms and values.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_data
