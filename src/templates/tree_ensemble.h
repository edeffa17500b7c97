// Ensembles of decision trees as scikit-learn's and XGBoost's converters write them, in ai.onnx.ml: complete
// binary trees with random splits of features that are uniform in [0, 1).
#pragma once

#include <memory>
#include <string>

#include "templates/model_template.h"

namespace assay {

struct TreeEnsembleSpec {
  int64_t trees, depth, features;
  int64_t classes = 0;  ///< 0: a regressor
};

std::shared_ptr<Model> build_tree_ensemble(const TemplateOptions& options, std::string name,
                                           const TreeEnsembleSpec& spec);

}  // namespace assay
