// `assay check lint`: everything that is wrong with a model, in one run.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "assay/backend.h"
#include "graph/import.h"
#include "lint/report.h"

namespace assay::lint {

struct LintOptions {
  std::string path;
  ImportOptions import;
  /// Extents that the main graph's inputs get instead of the declared ones; unknown names are an error.
  std::vector<std::pair<std::string, Dims>> input_shapes;
  /// Only what upstream finds, too.
  bool upstream_only = false;
  /// Runs the model, and where that fails each node; null: nothing is run.
  const Backend* backend = nullptr;
  SessionOptions session;
  /// Data for the inputs; called when the backend is there. Throws Error where none can be made.
  std::function<TensorList(const std::vector<TensorInfo>&)> feed;
  /// Somebody named the data: without them lint_model() fails. Else the rules that need none are checked.
  bool needs_data = false;
};

/// Checks the model and logs what it finds. Throws Error for a file that cannot be opened and for options
/// that do not fit the model; what is wrong with the model is in the report.
Report lint_model(const LintOptions& options);

}  // namespace assay::lint
