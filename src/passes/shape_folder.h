// Folds values that consist of extents of other values.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Computes Shape and Size from the declared extents of their inputs, and selections of Gather, Slice,
/// Squeeze, Unsqueeze and Identity from such a result, also when only the selected extents are known.
class ShapeFolder {
 public:
  /// The tensor of a constant, or null.
  using Known = std::function<const UnalignedTensor*(const Value*)>;

  /// `model` gives the opsets.
  ShapeFolder(const Model& model, Known known) : model_(model), known_(std::move(known)) {}

  /// The result of a node, if the rules above determine it. Call it
  /// in topological order: partial results are kept for later nodes.
  /// Throws Error naming the node when it violates its operator's rules.
  std::optional<Tensor> fold(const Node& n);

 private:
  /// Integers, one for each element of a tensor of that shape.
  struct Extents {
    Shape shape;
    std::vector<Dim> dims;
  };

  std::optional<Extents> extents_of(const Node& n) const;
  std::optional<Extents> picked(const Node& n, const Extents& x) const;

  const Model& model_;
  Known known_;
  std::unordered_map<const Value*, Extents> partly_known_;
};

}  // namespace assay
