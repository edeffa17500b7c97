// Runs a model on a backend, the whole of it or node by node, to find what only running it shows.
#pragma once

#include <string>
#include <string_view>

#include "assay/backend.h"
#include "lint/report.h"

namespace assay::lint {

/// Runs the whole model. Empty when it ran, otherwise the backend's message. `feed` holds every input of the
/// main graph.
std::string run_whole(const std::shared_ptr<const Model>& model, const Backend& backend,
                      const SessionOptions& options, const TensorList& feed);

/// Runs every node of the main graph as a model of its own, on the values that the nodes before it gave. What
/// the backend refuses is reported (kRuntimeError, or kRuntimeUnknown for an operator it does not know) with
/// the node; nodes that depend on such a one, or on an input that `feed` lacks, are skipped.
void run_single_nodes(const Model& model, const Backend& backend, const SessionOptions& options,
                      const TensorList& feed, Report& report);

/// A message of ONNX Runtime as upstream shows it: without the places in its source, node labels and words
/// such as `Error: ` that say nothing.
std::string pruned_message(std::string_view message);

}  // namespace assay::lint
