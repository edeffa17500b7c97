// Judges the inside of If, Loop and Scan like other nodes: opens a model's bodies, and unrolls a run of it to
// a straight-line model, in which each iteration has its own nodes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arbiter/judgement.h"

namespace assay {

/// A model, and a copy with the tensors in bodies of some nodes as additional outputs.
struct OpenedModel {
  std::shared_ptr<const Model> original;
  std::shared_ptr<const Model> model;
  std::unordered_set<const Node*> nodes;                       ///< opened nodes of the original's main graph
  std::unordered_map<const Value*, std::string> output_names;  ///< of the values in their bodies
};

/// Exposes tensors in the bodies of these nodes of the main graph, if they are If, Loop and Scan. Types must
/// have been inferred.
OpenedModel open_bodies(std::shared_ptr<const Model> model, std::span<const Node* const> nodes);

/// A run as a straight line.
struct UnrolledRun {
  std::shared_ptr<const Model> model;
  StoredTensorList results;  ///< under the names of its values
  /// The original of a value of the unrolled model.
  struct Place {
    std::string output, node, op_type;
    std::vector<std::string> inputs;
    std::string body;       ///< as in ArbiterVerdict
    std::string enclosing;  ///< the same
  };
  std::unordered_map<std::string, Place> places;  ///< by name; missing ones have not changed
  std::vector<ArbiterVerdict> findings;           ///< findings without a value: a wrong number of iterations
};

/// Unrolls the branches and iterations of the runner, according to its results of the opened model. A node
/// with incomplete results, or too many iterations, is not unrolled.
UnrolledRun unroll(const OpenedModel& opened, std::span<const Tensor> feed, const ArbiterCase& results);

/// arbitrate() with each runner's results unrolled.
Arbitration arbitrate_opened(const OpenedModel& opened, std::span<const Tensor> feed,
                             std::span<const ArbiterCase> cases, const ArbiterOptions& options = {});

}  // namespace assay
