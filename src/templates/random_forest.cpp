// A random forest (Breiman, "Random Forests", 2001): 100 trees of depth 10 over 54 features for 7 classes,
// the sizes of the forest cover type data.
#include "templates/template_list.h"
#include "templates/tree_ensemble.h"

namespace assay::template_random_forest {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_tree_ensemble(options, "random_forest",
                             {.trees = 100, .depth = 10, .features = 54, .classes = 7});
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "random-forest",
    .summary = "classifier: 100 trees of depth 10 by TreeEnsembleClassifier (Breiman, 2001)",
    .build = build};

}  // namespace assay::template_random_forest
