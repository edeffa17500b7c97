// Evaluation of nodes with unknown operators.
#pragma once

#include <vector>

#include "assay/error.h"
#include "assay/graph.h"

namespace assay {

/// An operator that cannot be evaluated here.
class UnknownOperator : public Error {
 public:
  explicit UnknownOperator(std::string message) : Error(ErrorCode::kUnsupported, std::move(message)) {}
};

/// A foreign evaluator, so that a few unknown operators need not stop the walk over a model.
class ForeignNodes {
 public:
  virtual ~ForeignNodes() = default;
  /// True when it may be able to evaluate this node.
  virtual bool takes(const Node& node) = 0;
  /// The outputs for inputs of the stored types; undefined for omitted ones. Throws UnknownOperator if it
  /// does not know the operator either, else Error.
  virtual std::vector<Tensor> evaluate(const Node& node, const std::vector<Tensor>& inputs) = 0;
};

}  // namespace assay
