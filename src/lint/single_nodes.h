// Runs a model on a backend, as a whole or node by node, to find defects that only running shows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend.h"
#include "lint/report.h"

namespace assay::lint {

struct RunOptions {
  const Backend* backend = nullptr;
  SessionOptions session;
  std::vector<TensorInfo> inputs;  ///< of the main graph; those that data are made for
  std::function<TensorList(const std::vector<TensorInfo>&)> feed;
  bool runs_whole = true;  ///< false: only node by node
};

struct RunOutcome {
  bool ran_whole = false;  ///< nodes were then not run separately
  bool ran_nodes = false;  ///< nodes were run one by one, so that each has a result
  std::string no_data;     ///< why there are no data; nothing was then run
};

/// Runs the whole model, and where that fails every node of the main graph as a model of its own, on the
/// values of earlier nodes. Refusals of the backend are reported (kRuntimeError, or
/// kRuntimeUnknown for an operator it does not know) with the node; nodes that depend on such a one, or on an
/// input without data, are skipped. All of it happens in child processes, so that crashes of the backend are
/// reported, too (kRuntimeCrash); the caller must be single-threaded. Throws Error for failures that are not
/// the model's fault.
RunOutcome run_model(const std::shared_ptr<const Model>& model, const RunOptions& options, Report& report);

/// A message of ONNX Runtime as upstream shows it: without source locations, node labels and redundant words
/// such as `Error: `.
std::string pruned_message(std::string_view message);

}  // namespace assay::lint
