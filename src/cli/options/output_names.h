// Outputs named by the operators that compute them, in options of `run` that differ between outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "run/model_loader.h"

namespace assay::cli {

/// Replaces `op:OPERATOR` by names of outputs. Reads the model if there is such a word.
class OutputNames {
 public:
  /// The model in question, with the requested outputs.
  explicit OutputNames(ModelLoaderOptions options);

  /// The names that the option's key selects: itself, unless it is `op:OPERATOR`. Throws Error when there is
  /// no model, no such operator (suggesting the nearest), or none that computes an output.
  std::vector<std::string> expand(const std::string& option, const std::string& key);

 private:
  ModelLoaderOptions options_;
  std::shared_ptr<Model> model_;
};

}  // namespace assay::cli
