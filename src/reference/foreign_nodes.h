// Nodes whose operators are not known here.
#pragma once

#include <vector>

#include "assay/error.h"
#include "assay/graph.h"

namespace assay {

/// An operator that nobody here can evaluate.
class UnknownOperator : public Error {
 public:
  explicit UnknownOperator(std::string message) : Error(ErrorCode::kUnsupported, std::move(message)) {}
};

/// Somebody else who evaluates nodes, so that a few unknown operators need not stop the walk over a model.
class ForeignNodes {
 public:
  virtual ~ForeignNodes() = default;
  /// Whether it can be asked for this node.
  virtual bool takes(const Node& node) = 0;
  /// The outputs for inputs of the stored types; undefined where one is left out. Throws
  /// UnknownOperator where it does not know the operator either, else Error.
  virtual std::vector<Tensor> evaluate(const Node& node, const std::vector<Tensor>& inputs) = 0;
};

}  // namespace assay
