// Import, then the engine's plan, and a run of it where the model takes no inputs.
#include "assay/backend_set.h"
#include "fuzz/targets/models.h"
#include "ops/infer.h"

namespace assay::fuzz::target_model_plan {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  infer_shapes(*model);
  require_quick(*model, false);
  const std::unique_ptr<Session> session =
      built_in_backends().get("engine").open({.model = model, .path = ""}, {.threads = 1});
  if (session->inputs().empty()) session->run({}, [](size_t, Tensor) {});
}

}  // namespace

constinit const Target def = model_target("model_plan", run);

}  // namespace assay::fuzz::target_model_plan
