// Outputs named by the operators that compute them, in options of `run` that differ between outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "run/model_loader.h"

namespace assay::cli {

/// Puts the names of outputs in the place of `op:OPERATOR`. Reads the model when there is such a word.
class OutputNames {
 public:
  /// The model whose outputs are meant, with the changes of its outputs.
  explicit OutputNames(ModelLoaderOptions options);

  /// What the option's key stands for: itself, unless it is `op:OPERATOR`. Throws Error when there is no
  /// model, no such operator (the nearest are suggested), or none that computes an output.
  std::vector<std::string> expand(const std::string& option, const std::string& key);

 private:
  ModelLoaderOptions options_;
  std::shared_ptr<Model> model_;
};

}  // namespace assay::cli
