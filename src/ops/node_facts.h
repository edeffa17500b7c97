// Properties of a node that follow from its operator's facts; the operator is looked up among those that its
// model may use.
#pragma once

#include <optional>

#include "ops/op_set.h"

namespace assay {

/// The definition of a node's operator; null for one that the model's set does not have.
const OpDef* find_op(const Node& node, const Model& model);
/// The facts of a node's operator: none for one that the model's set does not have.
const OpFacts& facts_of(const Node& node, const Model& model);
/// Whether outputs are unchanged elements of the node's inputs, so that it computes in no type.
bool hands_on(const Node& node, const Model& model);
/// Whether a Resize gives elements of its input and nothing else.
bool selects_elements(const Node& resize);
/// A pointwise instruction with its parameters.
struct PointwiseCode {
  kernels::PointwiseOp op;
  float a = 0, b = 0;
};
/// The instruction of the node's operator, with parameters from the attributes or the schema's defaults;
/// nothing when there is none.
std::optional<PointwiseCode> pointwise_code(const Node& node, const Model& model);

}  // namespace assay
