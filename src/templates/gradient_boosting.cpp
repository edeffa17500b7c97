// Gradient boosting (Chen and Guestrin, "XGBoost: A Scalable Tree Boosting System", 2016): 500 trees of depth
// 6, the default depth, over 28 features, those of the Higgs data.
#include "templates/template_list.h"
#include "templates/tree_ensemble.h"

namespace assay::template_gradient_boosting {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_tree_ensemble(options, "gradient_boosting", {.trees = 500, .depth = 6, .features = 28});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "gradient-boosting",
    .summary = "regressor: 500 trees of depth 6 by TreeEnsembleRegressor (Chen and Guestrin, 2016)",
    .build = build};

}  // namespace assay::template_gradient_boosting
