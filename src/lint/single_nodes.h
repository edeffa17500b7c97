// Runs a model on a backend, the whole of it or node by node, to find what only running it shows.
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
  bool ran_whole = false;  ///< then nothing was run node by node
  bool ran_nodes = false;  ///< one by one, so that it is known of each whether it ran
  std::string no_data;     ///< why there are no data to run on; then nothing was run
};

/// Runs the whole model, and where that fails every node of the main graph as a model of its own, on the
/// values that the nodes before it gave. What the backend refuses is reported (kRuntimeError, or
/// kRuntimeUnknown for an operator it does not know) with the node; nodes that depend on such a one, or on an
/// input without data, are skipped. All of it happens in child processes, so that what makes the backend die
/// is reported, too (kRuntimeCrash); the caller must not have started threads. Throws Error for what is not
/// the model's fault.
RunOutcome run_model(const std::shared_ptr<const Model>& model, const RunOptions& options, Report& report);

/// A message of ONNX Runtime as upstream shows it: without the places in its source, node labels and words
/// such as `Error: ` that say nothing.
std::string pruned_message(std::string_view message);

}  // namespace assay::lint
