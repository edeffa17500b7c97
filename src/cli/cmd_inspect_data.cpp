// assay inspect data: saved inputs and outputs.
#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/values.h"
#include "inspect/data_report.h"
#include "inspect/text_block.h"
#include "run/accuracy_results.h"
#include "run/concat_iterations.h"
#include "run/data_source.h"
#include "run/results.h"

namespace assay::cli::command_inspect_data {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Data").options = {
      {.names = {"path"},
       .help = "Inputs, outputs or accuracy results that `run` saved: a file, or a folder with a file per "
               "iteration.",
       .metavar = "PATH"},
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
      {.names = {"--json"},
       .help = "Write types, shapes, statistics and, with --histogram, histograms to this file, too.",
       .metavar = "FILE"},
  };
}

std::string accuracy_text(const AccuracyResults& results, bool all) {
  std::string text = fmt::format("==== Accuracy Results ({} comparison(s)) ====\n\n", results.size());
  for (const SavedAccuracy& saved : results) {
    text += fmt::format("---- Aggregation: {} ----\n\n",
                        saved.aggregation == Aggregation::kAverage ? "average" : "per_sample");
    for (const SavedAccuracy::Pair& pair : saved.pairs) {
      const auto passes = [](const std::vector<OutputResult>& iteration) {
        return std::all_of(iteration.begin(), iteration.end(),
                           [](const OutputResult& r) { return r.passed; });
      };
      text += fmt::format("{} vs. {} | {}/{} iteration(s) matched    \n", pair.runner0, pair.runner1,
                          std::count_if(pair.iterations.begin(), pair.iterations.end(), passes),
                          pair.iterations.size());
      for (size_t i = 0; i < pair.iterations.size() && (all || i == 0); ++i) {
        text += fmt::format("    -- Iteration: {}        \n", i);
        for (const OutputResult& r : pair.iterations[i]) {
          std::string values;
          for (const auto& [name, value] : metric_values(saved.function, r))
            values += fmt::format("{}{}={}", values.empty() ? "" : ", ", name, format_g(value, 5));
          text += fmt::format("        {} | {}{}{}\n", r.output, r.passed ? "PASSED" : "FAILED",
                              values.empty() ? "" : " | ", values);
        }
      }
    }
    text += "\n";
  }
  return text;
}

/// All iterations of a folder, naming each file as it is read.
ResultsOrInputs load_folder(const std::string& path) {
  const std::vector<std::string> files = iteration_files(path);
  if (files.empty())
    log::critical(ErrorCode::kInvalidArgument, "No per-iteration '*.json' files found in directory: {}",
                  path);
  const bool are_results = std::holds_alternative<RunResults>(load_results_or_inputs(files.front()));
  for (const std::string& file : files)
    log::info("Loading {} from {}", are_results ? "inference results" : "input data", file);
  return concat_iterations({&path, 1});
}

/// Passes the arrays to show to `report`: the first iteration of each list, or all. One array is in memory at
/// a time.
class Teller {
 public:
  Teller(DataReport& report, const ArrayTextOptions& options, bool all)
      : report_(report), options_(options), all_(all) {}

  void tell(const ResultsOrInputs& data) {
    if (const auto* results = std::get_if<RunResults>(&data))
      tell_results(*results);
    else
      tell_inputs(std::get<InputData>(data));
    report_.end();
  }

 private:
  void tell_results(const RunResults& results) {
    size_t width = 0;
    for (const auto& [name, iterations] : results.runners) width = std::max(width, name.size());
    report_.begin_results(results.runners.size(), width);
    for (const auto& [name, iterations] : results.runners) {
      report_.begin_runner(name, iterations.size());
      for (size_t i = 0; i < iterations.size() && (all_ || i == 0); ++i) tell(iterations[i].outputs, i);
      report_.end_runner();
    }
  }
  void tell_inputs(const InputData& inputs) {
    report_.begin_inputs(inputs.size());
    for (size_t i = 0; i < inputs.size() && (all_ || i == 0); ++i) tell(inputs[i], i);
  }
  void tell(const StoredTensorList& arrays, size_t index) {
    report_.begin_iteration(index);
    for (const auto& [name, stored] : arrays) report_.add(describe(name, stored.load(), options_));
    report_.end_iteration();
  }

  DataReport& report_;
  const ArrayTextOptions& options_;
  bool all_;
};

/// The arrays' statistics and histograms; their values are in the file itself.
void save_json(const ResultsOrInputs& data, ArrayTextOptions options, bool all, const std::string& path) {
  log::info("Saving descriptions to {}", path);
  options.values = false;
  AtomicFile file(path);
  JsonWriter json(file);
  DataJson report(json);
  Teller(report, options, all).tell(data);
  file.commit();
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const bool all = args.has("-a");
  ArrayTextOptions options;
  options.values = args.has("-s");
  options.histogram = args.has("--histogram");
  options.edge_items = require_at_least("--num-items", args.integer("-n").value_or(options.edge_items), -1);
  options.line_width =
      require_at_least("--line-width", args.integer("--line-width").value_or(options.line_width), -1);
  const std::string path = args.text("path").value();
  if (!is_folder(path) && holds_accuracy_results(path)) {
    log::info("{}", stripped(accuracy_text(load_accuracy_results(path), all)));
    if (args.has("--json"))
      log::warning("--json is about arrays; accuracy results are JSON already, and nothing is written.");
    return 0;
  }
  const ResultsOrInputs data = is_folder(path) ? load_folder(path) : load_results_or_inputs(path);
  DataText report(options, all);
  Teller(report, options, all).tell(data);
  log::info("{}", stripped(report.text()));
  if (const auto json = args.text("--json")) save_json(data, options, all, *json);
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
