// Keeps the names of nodes and values apart while a model is edited.
#pragma once

#include <string>
#include <unordered_set>

#include "assay/graph.h"

namespace assay {

/// Code that creates nodes and values chooses names that are free in its scope (Graph::unique_name()), not in
/// every body: a value of the main graph may get a name that a body has, which ONNX
/// forbids where the body sees both, and two nodes may get one name. settle() renames new objects so that an
/// edit introduces no clash. Names of the model's inputs and outputs stay, and earlier clashes are left
/// alone.
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
