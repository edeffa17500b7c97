// assay inspect sparsity: which weights have the 2:4 pattern.
#include "base/log.h"
#include "base/resident_memory.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "passes/sparsity.h"

namespace assay::cli {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
}

void report(const SparsityTarget& target) {
  const std::string& name = target.weight->name();
  const Tensor& data = target.weight->tensor();
  if (has_2_4_sparsity(data, target.axis))
    log::info("Found sparse tensor: {}", name);
  else
    log::warning("Found non-sparse tensor: {}", name);
  if (is_reclaimable(data.data())) drop_resident_pages(data.data(), data.nbytes());
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args);
  context.announce();
  const std::shared_ptr<Model> model = load_onnx_model(args, path);
  const std::vector<SparsityTarget> targets = find_sparsity_targets(*model->graph);
  log::start("Checking the sparsity pattern of {} tensors.", targets.size());
  for (const SparsityTarget& target : targets) report(target);
  log::finish("Finished checking {} tensors. ", targets.size());
  return 0;
}

}  // namespace

constinit const Command kInspectSparsityCommand = {
    .name = "sparsity",
    .summary = "Show which weights have the 2:4 sparsity pattern.",
    .description =
        "Shows for every weight of a Conv, MatMul or Gemm whether at least two of every four neighbours "
        "along the summed axis are zero.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli
