// assay inspect sparsity: which weights have the 2:4 pattern.
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/weight_text.h"
#include "inspect/weight_sparsity.h"

namespace assay::cli::command_inspect_sparsity {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  parser.add_group("Sparsity").options = {
      {.names = {"--json"},
       .help = "Write what was found of each weight to this file, too.",
       .metavar = "FILE"},
  };
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  context.announce();
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  WeightText text;
  const SparsityReport report = check_sparsity(*model, text);
  if (const auto json = args.text("--json")) {
    log::info("Saving sparsity to {}", *json);
    AtomicFile file(*json);
    file.write(sparsity_json(weight_sparsity(report)));
    file.commit();
  }
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
