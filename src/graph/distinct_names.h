// Keeps the names of nodes and values apart while a model is edited.
#pragma once

#include <string>
#include <unordered_set>

#include "assay/graph.h"

namespace assay {

/// What makes nodes and values gives them names that are free where it stands (Graph::unique_name()), not
/// ones that are free in every body: a value of the main graph may get a name that a body has, which ONNX
/// forbids where the body sees both, and two nodes may get one name. settle() renames what an edit made so
/// that nothing clashes that did not before. The names of the model's own inputs and outputs stay, and what
/// clashed already stays as it is.
class DistinctNames {
 public:
  explicit DistinctNames(const Model& model);
  /// After the edit. Of a pair that clashes, the newer one is renamed.
  void settle(Model& model);

 private:
  class Settling;
  struct Known {
    std::unordered_set<const void*> objects;  ///< nodes and values
    std::unordered_set<std::string> clashing_nodes, clashing_values;
  };
  Known known_;
};

}  // namespace assay
