// What happened inside If, Loop and Scan, judged like any other node: a model whose bodies are shown, and a
// run of it as a straight line, in which each iteration has its own nodes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arbiter/judgement.h"

namespace assay {

/// A model, and the same with the tensors in bodies of some nodes as further outputs.
struct OpenedModel {
  std::shared_ptr<const Model> original;
  std::shared_ptr<const Model> model;
  std::unordered_set<const Node*> nodes;  ///< of the original's main graph: those that are open
  std::unordered_map<const Value*, std::string> output_names;  ///< of the values in their bodies
};

/// Shows what the bodies of these nodes of the main graph compute, as far as they are If, Loop and Scan and
/// it is tensors. Types must have been inferred.
OpenedModel open_bodies(std::shared_ptr<const Model> model, std::span<const Node* const> nodes);

/// A run as a straight line.
struct UnrolledRun {
  std::shared_ptr<const Model> model;
  StoredTensorList results;  ///< under the names of its values
  /// What a value of the straight line is in the original.
  struct Place {
    std::string output, node, op_type;
    std::vector<std::string> inputs;
    std::string body;       ///< as in ArbiterVerdict
    std::string enclosing;  ///< the same
  };
  std::unordered_map<std::string, Place> places;  ///< by name; what is not in it has not changed
  std::vector<ArbiterVerdict> findings;           ///< what no value shows: a wrong number of iterations
};

/// Follows the branches that the runner took and the iterations that it made, as its results of the opened
/// model show. A node of which they do not show enough, or whose iterations are too many, stays as it is.
UnrolledRun unroll(const OpenedModel& opened, std::span<const Tensor> feed, const ArbiterCase& results);

/// arbitrate() with each runner's results unrolled.
Arbitration arbitrate_opened(const OpenedModel& opened, std::span<const Tensor> feed,
                             std::span<const ArbiterCase> cases, const ArbiterOptions& options = {});

}  // namespace assay
