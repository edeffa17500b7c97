// Import, then constant folding as `surgeon sanitize --fold-constants` does it.
#include "assay/edit.h"
#include "assay/fold.h"
#include "fuzz/targets/models.h"
#include "graph/export.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"

namespace assay::fuzz::target_model_fold {
namespace {

void run(std::string_view input) {
  const std::shared_ptr<Model> model = model_of(input);
  for (int pass = 0; pass < 2; ++pass) {
    infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
    require_quick(*model, true);
    const FoldReport report = fold_constants(*model, {.max_work = 1 << 22});
    for (const FoldReport::Kept& k : report.failed)
      require(k.reason.find("unexpected failure") == std::string::npos &&
                  k.reason.find("not enough memory") == std::string::npos &&
                  k.reason.find("longer than any memory") == std::string::npos,
              ErrorCode::kInternal, "{}: {}", k.node, k.reason);
    cleanup(*model);
    verify_graph(*model->graph);
  }
  serialize_model(*model);
}

}  // namespace

constinit const Target def = model_target("model_fold", run);

}  // namespace assay::fuzz::target_model_fold
