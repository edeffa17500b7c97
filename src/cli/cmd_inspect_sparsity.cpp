// assay inspect sparsity: which weights have the 2:4 pattern.
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "passes/sparsity.h"

namespace assay::cli::command_inspect_sparsity {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  context.announce();
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  find_sparse_weights(*model->graph);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "sparsity",
    .summary = "Show which weights have the 2:4 sparsity pattern.",
    .description =
        "Shows for every weight of a Conv, MatMul or Gemm whether at least two of every four neighbours "
        "along the summed axis are zero.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_sparsity
