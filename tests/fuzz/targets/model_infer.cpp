// Import, then inference of types and shapes: strictly, and going on where a rule is broken.
#include "fuzz/targets/models.h"
#include "graph/clone.h"
#include "ops/infer.h"

namespace assay::fuzz::target_model_infer {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input), copy = clone_model(*model);
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}, .keep_declared = false});
  infer_shapes(*model);
}

}  // namespace

constinit const Target def = model_target("model_infer", run);

}  // namespace assay::fuzz::target_model_infer
