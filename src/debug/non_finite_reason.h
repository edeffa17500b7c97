// Why an element is NaN or infinite.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

/// A value that an element was computed from.
struct ElementOperand {
  std::string tensor;
  /// Of an operator that computes element by element: where it stands, and the number.
  std::optional<std::vector<int64_t>> index;
  double value = 0;
  /// Of others: the least and the largest number of the operand.
  double least = 0, largest = 0;
};

struct NonFiniteElement {
  std::vector<int64_t> index;
  double value = 0;
  std::vector<ElementOperand> operands;
  std::string reason;  ///< such as `division by 0`
  /// In float64, on these operands; nothing where it is not finite either, or is not known.
  std::optional<double> exact;
};

/// A node as it was evaluated.
struct EvaluatedNode {
  const Node& node;
  const Model& model;
  std::span<const Tensor> inputs;  ///< undefined: left out, or not known
  const Tensor& output;
  size_t output_index = 0;
};

/// Says it of the elements at these places (flat indices); the node is evaluated once for all of them.
std::vector<NonFiniteElement> explain_elements(const EvaluatedNode& evaluated, std::span<const int64_t> at);

}  // namespace assay::debug
