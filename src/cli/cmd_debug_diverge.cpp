// assay debug diverge: where two runs of a network begin to differ.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_debug.h"
#include "cli/options/layers.h"
#include "cli/registries.h"
#include "debug/divergence.h"
#include "debug/places.h"
#include "run/coerce_inputs.h"
#include "run/live_stream.h"
#include "run/output_recorder.h"

namespace assay::cli::command_debug_diverge {
namespace {

using debug::Divergence;
using debug::TensorDifference;

void add_options(ArgParser& parser, const Registries& registries) {
  add_layer_options(parser, registries);
  parser.add_group("Comparison").options = {
      {.names = {"--against"},
       .help =
           "Another model, such as the same one before an edit: its tensors are found by what they compute "
           "where their names differ.",
       .metavar = "MODEL"},
      {.names = {"--load-outputs"},
       .help =
           "Results of all layers, as `run --onnx-outputs '*' --save-outputs` saves them, in the place of "
           "a second backend.",
       .metavar = "FILE"},
      {.names = {"--atol"},
       .help = "What elements may differ by. Without --atol and --rtol: by a share of the largest number of "
               "the tensor, 1e-4 for float32, 1e-2 for float16.",
       .metavar = "NUMBER",
       .kind = ValueKind::kNumber},
      {.names = {"--rtol"},
       .help = "The same, as a share of the element of the second one.",
       .metavar = "NUMBER",
       .kind = ValueKind::kNumber},
      {.names = {"--no-match-values"},
       .help = "Do not look for tensors that only one of two models has among the other's by their values.",
       .arity = Arity::kNone},
      layer_json_option(),
  };
}

debug::LayerTolerance read_tolerance(const ParsedArgs& args) {
  debug::LayerTolerance tolerance{.atol = args.number("--atol"), .rtol = args.number("--rtol")};
  for (const auto& [option, value] :
       {std::pair("--atol", tolerance.atol), std::pair("--rtol", tolerance.rtol)})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is no tolerance: give a number from 0 on.", option,
                    format_g(*value, 6));
  return tolerance;
}

/// One of the two that are compared.
struct Side {
  std::string name;
  std::shared_ptr<const Model> model;
  std::vector<std::string> outputs;
  std::unique_ptr<debug::LayerRun> layers;  ///< null: they are saved
  std::vector<IterationResult> saved;
};

Side live_side(const LayerOptions& options, const std::string& path, const RunnerChoice& runner) {
  Side side;
  ModelLoaderOptions loading = options.loading;
  loading.path = path;
  side.model = load_layers(loading, side.outputs);
  side.layers = std::make_unique<debug::LayerRun>(side.model, path, runner, options.session);
  side.name = fmt::format("{} of {}", side.layers->backend(), path);
  return side;
}

Side saved_side(const std::string& path, const std::shared_ptr<const Model>& model) {
  Side side{.name = path, .model = model};
  RunResults results = load_all_results_aloud(path);
  if (results.runners.size() != 1)
    log::critical(ErrorCode::kInvalidArgument,
                  "{} holds the results of {} runners: give those of one, with all layers.", path,
                  results.runners.size());
  side.saved = std::move(results.runners.front().second);
  return side;
}

/// Fills in the values of a side in an iteration.
void fill(Side& side, const TensorList& data, int64_t iteration, debug::LayerValues& values) {
  if (side.layers != nullptr) {
    side.layers->run(data,
                     [&](const std::string& name, Tensor value) { values.put(name, std::move(value)); });
    return;
  }
  const auto index = static_cast<size_t>(iteration);
  if (index >= side.saved.size())
    log::critical(ErrorCode::kInvalidArgument,
                  "{} holds {} iteration(s), and there are data for more: give the same --iterations or "
                  "--load-inputs.",
                  side.name, side.saved.size());
  const IterationResult& result = side.saved[index];
  if (!result.inputs.empty() && result.inputs != fingerprint_of(data))
    log::critical(ErrorCode::kInvalidArgument,
                  "{} was made with other inputs than those of iteration {}: give the same data options, or "
                  "--load-inputs.",
                  side.name, iteration);
  for (const NamedTensor& t : data) values.put(t.name, t.tensor);
  for (const NamedStoredTensor& t : result.outputs)
    if (t.tensor.defined()) values.put(t.name, t.tensor.load());
}

std::string difference_text(const TensorDifference& d) {
  if (!d.problem.empty()) return d.problem;
  return fmt::format("{} of {} element(s) beyond the tolerance, the largest error {}{}: {} and {} at {}",
                     d.beyond, d.elements, format_g(d.error, 4),
                     d.scale > 0 && std::isfinite(d.error)
                         ? fmt::format(" ({} of the largest number)", format_g(d.error / d.scale, 3))
                         : "",
                     format_g(d.first, 6), format_g(d.second, 6), debug::place_text("", d.index));
}

std::string own_error_text(const Divergence& d) {
  const auto text = [](const std::optional<double>& error) {
    return error ? fmt::format("{} of the largest number off", format_g(*error, 3)) : "not known";
  };
  if (!d.first_own_error && !d.second_own_error) return "";
  return fmt::format("\nBy what float64 gives on its own operands, the first is {}, the second {}.",
                     text(d.first_own_error), text(d.second_own_error));
}

std::string divergence_text(const Divergence& d) {
  std::string text = fmt::format("{}: {}", d.first_tensor, difference_text(d.difference));
  if (d.second_tensor != d.first_tensor)
    text += fmt::format("\nThe second one calls it {}, found by its {}.", d.second_tensor,
                        debug::matched_by_name(d.by));
  if (!d.first_nodes.empty()) text += fmt::format("\nIt comes from node {}", fmt::join(d.first_nodes, ", "));
  if (d.second_nodes != d.first_nodes)
    text += fmt::format("\nin the second one from node {}", fmt::join(d.second_nodes, ", "));
  if (!d.first_nodes.empty())
    text += fmt::format("\nwhose operands agree: they come to {} of the tolerance.",
                        format_g(d.excess_of_operands, 3));
  text += own_error_text(d);
  text += fmt::format("\n{} tensor(s) behind it differ, {} agree again.", d.followers, d.recovered);
  for (const Divergence::Reached& reached : d.outputs)
    text += fmt::format("\nThe output {}: {}", reached.output, difference_text(reached.difference));
  if (d.outputs.empty()) text += "\nNo output differs for it.";
  return text;
}

void log_report(const debug::DivergenceReport& report) {
  std::string text = fmt::format(
      "First: {}\nSecond: {}\n{} tensor(s) were compared in {} iteration(s), {} differ.", report.first_name,
      report.second_name, report.compared, report.iterations, report.differing);
  for (const auto& [by, count] : report.matched_by)
    text += fmt::format("\n{} have another name in the second one, and were found by their {}.", count, by);
  if (report.first_alone + report.second_alone > 0)
    text += fmt::format("\n{} tensor(s) of the first one and {} of the second were not found in the other.",
                        report.first_alone, report.second_alone);
  log::info("{}", text);
  if (report.divergences.empty()) return;
  log::info("The first that differs although its operands agree:\n{}",
            divergence_text(report.divergences.front()));
  constexpr size_t kMost = 10;
  text.clear();
  for (size_t i = 1; i < std::min(report.divergences.size(), kMost + 1); ++i) {
    const Divergence& d = report.divergences[i];
    text += fmt::format("{}{}, node {}: {}", i == 1 ? "" : "\n", d.first_tensor,
                        fmt::join(d.first_nodes, ", "), difference_text(d.difference));
  }
  if (report.divergences.size() > kMost + 1)
    text += fmt::format("\nand {} more", report.divergences.size() - kMost - 1);
  if (!text.empty()) log::info("Besides:\n{}", text);
}

/// Two backends, two models, or a backend and saved results, as the line says.
std::pair<Side, Side> read_sides(const CommandContext& context, LayerOptions& options) {
  const ParsedArgs& args = context.args();
  const std::string& path = options.model.path;
  const auto against = args.text("--against"), loaded = args.text("--load-outputs");
  if (options.runners.size() > 2)
    log::critical(ErrorCode::kInvalidArgument, "debug diverge compares two: name one or two runners, not {}.",
                  options.runners.size());
  if (loaded && options.runners.size() == 2)
    log::critical(ErrorCode::kInvalidArgument,
                  "--load-outputs stands in the place of a second runner: name one, or leave it out.");
  Side first = live_side(options, path, options.runners.front());
  if (loaded) {
    std::vector<std::string> ignored;
    std::shared_ptr<const Model> model = first.model;
    ModelLoaderOptions loading = options.loading;
    if (against) {
      loading.path = *against;
      model = load_layers(loading, ignored);
    }
    Side second = saved_side(*loaded, model);
    return {std::move(first), std::move(second)};
  }
  RunnerChoice other = options.runners.back();
  if (options.runners.size() == 1 && !against) {
    if (other.backend->is_oracle)
      log::critical(ErrorCode::kInvalidArgument,
                    "There is nothing to compare: name another runner, as in --onnxrt, another model "
                    "(--against), or saved results (--load-outputs).");
    other = reference_runner(context);
  }
  Side second = live_side(options, against.value_or(path), other);
  return {std::move(first), std::move(second)};
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const debug::LayerTolerance tolerance = read_tolerance(args);
  LayerOptions options = read_layer_options(context, ReferencePrecision::kFloat64);
  context.announce();
  auto [first, second] = read_sides(context, options);
  debug::DivergenceSearch search(first.model, second.model,
                                 {.tolerance = tolerance,
                                  .matches_values = !args.has("--no-match-values") &&
                                                    first.model != second.model && args.has("--against"),
                                  .outputs = first.outputs});
  debug::DivergenceReport& report = search.report();
  report.first_name = first.name;
  report.second_name = second.name;
  const std::shared_ptr<DataSource> source = options.make_data();
  source->begin(first.layers->inputs());
  while (const std::optional<TensorList> data = source->next()) {
    TensorStore store(kResultMemory);
    debug::LayerValues a(store), b(store);
    fill(first, *data, report.iterations, a);
    fill(second, *data, report.iterations, b);
    search.look(a, b);
  }
  require(report.iterations > 0, ErrorCode::kInvalidArgument, "no iteration has data to run the model on");
  if (report.compared <= first.model->graph->inputs.size() && !first.model->graph->nodes().empty())
    log::critical(ErrorCode::kInvalidArgument,
                  "The two have no tensor in common but inputs: are they the results of all layers of this "
                  "network?");
  log_report(report);
  if (const auto path = args.text("--json"))
    save_text("what was found", debug::divergence_json(report), *path);
  return report.divergences.empty() ? 0 : 1;
}

}  // namespace

constinit const Command def = {
    .name = "diverge",
    .summary = "Find where two backends, two models, or a backend and saved results begin to differ.",
    .description =
        "Runs with every tensor marked, and finds the first tensors that differ although those that they are "
        "made of agree, with the nodes that "
        "make them, whose result float64 confirms, and what follows. One runner is compared with the "
        "reference. The exit code is 1 if anything differs.",
    .add_options = add_options,
    .run = run,
    .reports = true,
};

}  // namespace assay::cli::command_debug_diverge
