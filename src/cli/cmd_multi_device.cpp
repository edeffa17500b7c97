// assay multi-device: models for several devices.
#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "base/python_repr.h"
#include "base/resident_memory.h"
#include "cli/command.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/shard_hints.h"
#include "cli/registries.h"
#include "onnx/text/reader.h"
#include "run/model_saver.h"
#include "shard/context_parallel.h"
#include "shard/tensor_parallel.h"

namespace assay::cli::command_multi_device {
namespace {

namespace fs = std::filesystem;

void add_shard_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_onnx_output_options(parser);
  add_shard_hint_options(parser);
  parser.add_group("Source of the Hints").options = {
      {.names = {"-s", "--hint"},
       .help = "A file of hints, as `template shard-hints` writes it.",
       .metavar = "FILE",
       .exclusive = "hints",
       .required = true},
      {.names = {"--one-shot"},
       .help = "Shard as `template shard-hints` would suggest with the options above, without a file.",
       .arity = Arity::kNone,
       .exclusive = "hints",
       .required = true},
  };
}

ShardHints read_hints(const ParsedArgs& args, const HintOptions& options, const Graph& graph) {
  if (args.has("--one-shot")) {
    log::info("Building sharding hints in one-shot from model (no JSON).");
    return suggest_hints(graph, options);
  }
  const std::string path = args.text("-s").value();
  log::info("Loading sharding hints from: {}", path);
  log::info("Loading shard hints from {}", path);
  return load_hints(path);
}

/// Hints that match nothing would leave the model unchanged.
void require_something(const ShardHints& hints, int attention_pattern) {
  if (hints.parallelism == Parallelism::kTensor || !hints.attention_layers.empty() || !hints.inputs.empty() ||
      !hints.outputs.empty())
    return;
  log::critical(
      ErrorCode::kInvalidArgument,
      "There is nothing to shard: no layer of attention pattern {} and no tensor is named. There are the "
      "patterns 0 and "
      "1 (--attention-pattern); a network without attention needs hints that name its inputs and outputs.",
      attention_pattern);
}

/// `-o out.onnx` for rank 1 of 2: out_tp2_rank1.onnx next to it.
fs::path rank_path(const fs::path& out, int64_t ranks, int64_t rank) {
  const std::string suffix = onnx::has_text_suffix(out.string()) ? out.extension().string() : ".onnx";
  fs::path path = out;
  return path.replace_filename(fmt::format("{}_tp{}_rank{}{}", out.stem().string(), ranks, rank, suffix));
}

void save_ranks(const Model& prepared, const WeightSlices& slices, ModelSaveOptions options) {
  if (options.external_data_path && !options.external_data_path->empty())
    log::warning(
        "--save-external-data: each rank's weights go to a file of their own, named after its model; {} is "
        "ignored.",
        *options.external_data_path);
  const fs::path out = options.path;
  for (int64_t rank = 0; rank < slices.ranks(); ++rank) {
    log::info("Saving rank {} graph", rank);
    const fs::path path = rank_path(out, slices.ranks(), rank);
    options.path = path.string();
    options.external_data_path = path.filename().string() + ".data";
    save_onnx_model(*rank_model(prepared, slices, rank), options);
  }
}

int run_shard(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const HintOptions options = read_shard_hint_options(args);
  const std::string path = read_onnx_model_path(args);
  const ModelSaveOptions save = read_onnx_save_options(args, kOutputOption);
  if (!args.has("--one-shot")) warn_about_unused_hint_options(args);
  const ResidentMemoryLimit limit;
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  ShardNames names(*model->graph);
  make_node_names_unique(*model->graph, names);
  const ShardHints hints = read_hints(args, options, *model->graph);
  const CollectiveHint& c = hints.dist_collectives;
  log::info("Loaded hints: parallelism={}, group_size={}, root={}, groups={}",
            parallelism_name(hints.parallelism), c.group_size, c.root, python_list_repr(c.groups));
  require_something(hints, options.attention_pattern);
  if (hints.parallelism == Parallelism::kContext) {
    edit(path, [&] { shard_context(*model, hints, options.attention_pattern, names); });
    save_onnx_model(*model, save);
    return 0;
  }
  if (save.one_file_per_tensor)
    log::critical(ErrorCode::kInvalidArgument,
                  "All tensors must be saved to one file if TP is used. Please omit the "
                  "`--no-save-all-tensors-to-one-file` option.");
  std::optional<WeightSlices> slices;
  edit(path, [&] { slices = shard_tensors(*model, hints, names); });
  save_ranks(*model, *slices, save);
  return 0;
}

constexpr Command kShardCommand = {
    .name = "shard",
    .summary = "Split a model over several devices.",
    .description =
        "Puts collective operations (nodes DistCollective, which TensorRT runs) into a model, so that "
        "several devices work on "
        "parts of a sequence together (CP), or makes a model for each device that has a part of the weights "
        "(TP).",
    .add_options = add_shard_options,
    .run = run_shard,
};
constexpr const Command* kSubcommands[] = {&kShardCommand};

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "multi-device",
    .summary = "Make models for several devices.",
    .description = "Makes models for several devices.",
    .add_options = add_logging_options,
    .subcommands = kSubcommands,
};

}  // namespace assay::cli::command_multi_device
