// assay surgeon prune: forces 2:4 sparsity on the weights.
#include "base/resident_memory.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/weight_text.h"
#include "surgeon/prune.h"

namespace assay::cli::command_surgeon_prune {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_onnx_output_options(parser);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  context.announce();
  const ResidentMemoryLimit limit;
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  log_model("Original Model", *model);
  const SparsityTargets targets = find_sparsity_targets(*model);
  WeightText text;
  text.on_prunable(targets);
  prune_weights(targets.eligible, &text);
  save_edited_model(args, *model);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "prune",
    .summary = "Force the 2:4 sparsity pattern on weights.",
    .description =
        "Sets the two smallest of every four neighbours of each weight to zero, along the axis that Conv, "
        "MatMul or Gemm sum over. This is for trying out what sparsity brings: the results of the model "
        "change, and nothing looks after its accuracy.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_surgeon_prune
