// assay debug diverge: where two runs of a network begin to differ.
#include <fmt/format.h>

#include "base/log.h"
#include "cli/cmd_debug.h"
#include "cli/layer_sides.h"
#include "cli/options/generation.h"
#include "cli/registries.h"
#include "debug/sequence_divergence.h"

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
  const OptionGroup tokens = token_options();
  OptionGroup& generating =
      parser.add_group("Generating models",
                       "With a prompt, both generate, the most likely token in each "
                       "step, and the layers of the first step that differs are compared.");
  generating.options = tokens.options;
  generating.options.push_back({.names = {"--no-verdict"},
                                .help = "Do not evaluate float64 where the two choose different tokens.",
                                .arity = Arity::kNone});
  add_tolerance_options(parser);
}

/// The runners of both sides; one is compared with the reference, unless there are two models.
std::pair<RunnerChoice, RunnerChoice> two_runners(const CommandContext& context, const LayerOptions& options,
                                                  bool are_two_models) {
  if (options.runners.size() > 2)
    log::critical(ErrorCode::kInvalidArgument, "debug diverge compares two: name one or two runners, not {}.",
                  options.runners.size());
  RunnerChoice other = options.runners.back();
  if (options.runners.size() == 1 && !are_two_models) {
    if (other.backend->is_oracle)
      log::critical(ErrorCode::kInvalidArgument,
                    "There is nothing to compare: name another runner, as in --onnxrt, another model "
                    "(--against), or saved results (--load-outputs).");
    other = reference_runner(context);
  }
  return {options.runners.front(), other};
}

/// A backend, and saved results in place of a second one.
std::pair<LayerSide, LayerSide> with_saved_side(const ParsedArgs& args, const LayerOptions& options,
                                                const std::string& saved) {
  if (options.runners.size() != 1)
    log::critical(ErrorCode::kInvalidArgument,
                  "--load-outputs stands in the place of a second runner: name one, or leave it out.");
  LayerSide first = live_side(options, options.model.path, options.runners.front());
  std::shared_ptr<const Model> model = first.model;
  if (const auto against = args.text("--against")) {
    std::vector<std::string> ignored;
    ModelLoaderOptions loading = options.loading;
    loading.path = *against;
    model = load_layers(loading, ignored);
  }
  LayerSide second = saved_side(saved, model);
  return {std::move(first), std::move(second)};
}

/// Two backends, two models, or a backend and saved results, as the line says.
std::pair<LayerSide, LayerSide> read_sides(const CommandContext& context, const LayerOptions& options) {
  const ParsedArgs& args = context.args();
  if (const auto saved = args.text("--load-outputs")) return with_saved_side(args, options, *saved);
  const auto against = args.text("--against");
  const auto [one, other] = two_runners(context, options, against.has_value());
  LayerSide first = live_side(options, options.model.path, one);
  LayerSide second = live_side(options, against.value_or(options.model.path), other);
  return {std::move(first), std::move(second)};
}

// ---- Models that generate.

debug::GeneratingSide generating_side(const LayerOptions& options, const std::string& path,
                                      const RunnerChoice& runner) {
  ModelLoaderOptions loading = options.loading;
  loading.path = path;
  const auto loader = std::make_shared<ModelLoader>(loading);
  return {.name = fmt::format("{} of {}", runner.human_name, path),
          .open = [&options, loader,
                   runner] { return open_generating(*runner.backend, options.session, *loader); },
          .open_layers = [&options, path, runner] { return live_side(options, path, runner).layers; }};
}

/// Two backends or two models, as the line says.
std::pair<debug::GeneratingSide, debug::GeneratingSide> generating_sides(const CommandContext& context,
                                                                         const LayerOptions& options) {
  const auto against = context.args().text("--against");
  const auto [first, second] = two_runners(context, options, against.has_value());
  return {generating_side(options, options.model.path, first),
          generating_side(options, against.value_or(options.model.path), second)};
}

class GenerationRenderer final : public generate::Observer {
 public:
  void on_interface(const generate::Interface& f) override { log::info("{}", interface_text(f)); }
  void on_judge(const generate::Parting& p) override {
    log::info("Evaluating float64, to judge token {} of prompt {}", p.index, p.prompt);
  }
};

int run_generating(const CommandContext& context, const LayerOptions& options,
                   const debug::LayerTolerance& tolerance, const generate::Options& generation) {
  const ParsedArgs& args = context.args();
  debug::SequenceDivergenceOptions how{
      .prompts = generation.prompts,
      .max_tokens = generation.max_tokens,
      .ends = generation.ends,
      .names = generation.names,
      .tolerance = tolerance,
      .matches_values = !args.has("--no-match-values") && args.has("--against")};
  const auto [first, second] = generating_sides(context, options);
  if (!args.has("--no-verdict")) {
    const std::shared_ptr<Model> judged = ModelLoader(options.loading).load_quietly();
    infer_known_shapes(*judged, /*report=*/false);
    how.judged = judged;
  }
  GenerationRenderer renderer;
  const debug::SequenceDivergence found = debug::find_sequence_divergence(first, second, how, renderer);
  log::info("{}", sequence_divergence_text(found));
  if (const auto path = args.text("--json"))
    save_text("what was found", debug::sequence_divergence_json(found), *path);
  return found.all_right() ? 0 : 1;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const debug::LayerTolerance tolerance = read_tolerance(args);
  std::optional<generate::Options> generation;
  if (has_token_options(args)) {
    generation = read_token_options(args);
    warn_about_unused_data_options(args, "a model that generates: it is fed tokens and its own cache");
    if (args.has("--load-outputs"))
      log::critical(
          ErrorCode::kInvalidArgument,
          "--load-outputs holds no steps of a model that generates: name a second runner, or another "
          "model (--against).");
  } else if (args.has("--no-verdict")) {
    log::critical(ErrorCode::kInvalidArgument, "--no-verdict is for models that generate: give a prompt.");
  }
  LayerOptions options = read_layer_options(context, ReferencePrecision::kFloat64);
  context.announce();
  if (generation) return run_generating(context, options, tolerance, *generation);
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
        "reference. With a prompt, both generate tokens, and the layers of the first step that differs are "
        "compared. The exit code is 1 if anything differs.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_diverge
