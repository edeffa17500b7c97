// assay debug diverge: where two runs of a network begin to differ.
#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/layer_sides.h"
#include "cli/registries.h"

namespace assay::cli::command_debug_diverge {
namespace {

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
      {.names = {"--no-match-values"},
       .help = "Do not look for tensors that only one of two models has among the other's by their values.",
       .arity = Arity::kNone},
      layer_json_option(),
  };
  add_tolerance_options(parser);
}

/// Two backends, two models, or a backend and saved results, as the line says.
std::pair<LayerSide, LayerSide> read_sides(const CommandContext& context, LayerOptions& options) {
  const ParsedArgs& args = context.args();
  const std::string& path = options.model.path;
  const auto against = args.text("--against"), loaded = args.text("--load-outputs");
  if (options.runners.size() > 2)
    log::critical(ErrorCode::kInvalidArgument, "debug diverge compares two: name one or two runners, not {}.",
                  options.runners.size());
  if (loaded && options.runners.size() == 2)
    log::critical(ErrorCode::kInvalidArgument,
                  "--load-outputs stands in the place of a second runner: name one, or leave it out.");
  LayerSide first = live_side(options, path, options.runners.front());
  if (loaded) {
    std::vector<std::string> ignored;
    std::shared_ptr<const Model> model = first.model;
    ModelLoaderOptions loading = options.loading;
    if (against) {
      loading.path = *against;
      model = load_layers(loading, ignored);
    }
    LayerSide second = saved_side(*loaded, model);
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
  LayerSide second = live_side(options, against.value_or(path), other);
  return {std::move(first), std::move(second)};
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const debug::LayerTolerance tolerance = read_tolerance(args);
  LayerOptions options = read_layer_options(context, ReferencePrecision::kFloat64);
  context.announce();
  auto [first, second] = read_sides(context, options);
  debug::DivergenceReport report =
      compare_sides(first, second,
                    {.tolerance = tolerance,
                     .matches_values = !args.has("--no-match-values") && first.model != second.model &&
                                       args.has("--against"),
                     .outputs = first.outputs},
                    options);
  log::info("{}", divergence_text(report));
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
    .traces = true,
};

}  // namespace assay::cli::command_debug_diverge
