// assay template shard-hints: writes a proposal for splitting a model over devices, for `multi-device shard`.
#include <filesystem>

#include "base/log.h"
#include "cli/cmd_template_scripts.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/shard_hints.h"
#include "cli/registries.h"

namespace assay::cli::command_template_shard_hints {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_shard_hint_options(parser);
  parser.add_group("Hints").options = {
      {.names = {"-o", "--output"},
       .help = "Where to save the hints; the name must end in .json, unless it is that of a device.",
       .metavar = "FILE",
       .required = true}};
}

/// A device or a pipe, such as /dev/stdout, need not be called .json.
bool is_special(const std::string& path) {
  std::error_code ec;
  return std::filesystem::is_other(path, ec);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const HintOptions options = read_shard_hint_options(args);
  const std::string out = args.text("-o").value();
  const std::shared_ptr<Model> model =
      load_onnx_model(args, read_onnx_model_path(args), context.registries().ops);
  if (!out.ends_with(".json") && !is_special(out))
    log::critical(ErrorCode::kInvalidArgument, "Output file must be a json: {} does not end in .json.", out);
  const ShardHints hints = suggest_hints(*model->graph, options);
  if (hints.attention_layers.empty() && options.parallelism == Parallelism::kContext)
    log::warning(
        "The model has no layer of attention pattern {}: the hints name nothing to shard. There are the "
        "patterns 0 and 1 "
        "(--attention-pattern).",
        options.attention_pattern);
  log::info("Saving shard hints to {}", out);
  save_hints(hints, out);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "shard-hints",
    .summary = "Write a file of hints how to split a model over devices.",
    .description =
        "Finds the attention layers of a model and the inputs and outputs around them, and writes them as a "
        "file for "
        "`multi-device shard`, to be looked through and changed.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_template_shard_hints
