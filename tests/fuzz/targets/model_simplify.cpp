// Import, then every pass that needs no known shapes, the graph checked after each.
#include "fuzz/targets/models.h"
#include "graph/export.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"

namespace assay::fuzz::target_model_simplify {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
  require_quick(*model, true);
  sort_topologically(*model->graph);
  run_passes(*model, built_in_passes().stage(PassStage::kCanonical), {.verify = true});
  serialize_model(*model);
}

}  // namespace

constinit const Target def = model_target("model_simplify", run);

}  // namespace assay::fuzz::target_model_simplify
