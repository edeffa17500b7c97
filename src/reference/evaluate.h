// Evaluates one node by its operator's reference evaluation.
#pragma once

#include <span>
#include <vector>

#include "assay/graph.h"
#include "ops/op_context.h"
#include "ops/op_def.h"

namespace assay {

/// An operator bound to an opset: the definition of a node.
struct BoundOp {
  const OpDef* op = nullptr;
  const OpVersion* version = nullptr;
  explicit operator bool() const { return version != nullptr && version->eval != nullptr; }
};

/// The definition a node has under the model's opset imports; empty when there is none or it cannot be
/// evaluated.
BoundOp bind_op(const Node& node, const Model& model);
/// Throws Error naming the unknown operator, domain or version.
BoundOp require_op(const Node& node, const Model& model);

/// Evaluates on tensors of the stored types and rounds the outputs to the stored types: as constant folding
/// and the engine's last tactic do. An undefined tensor is an omitted input. Throws Error naming the node,
/// also when the node violates its schema (check_form, check_values): it need not
/// have been inferred or checked before.
std::vector<Tensor> evaluate_node(const Node& node, BoundOp op, std::vector<Tensor> inputs,
                                  SubgraphRunner* subgraphs = nullptr);

/// Evaluates in float64, of which nothing is rounded to the types that the model declares: what the operator
/// makes of these very inputs. Throws as evaluate_node().
std::vector<Tensor> evaluate_exactly(const Node& node, BoundOp op, std::vector<Tensor> inputs,
                                     SubgraphRunner* subgraphs = nullptr);

/// The value with every float in it as float64, and the rest aligned. Undefined stays undefined.
Tensor widened(const Tensor& t);
/// The value with every float converted to this type.
Tensor rounded(const Tensor& t, DType dtype);
/// The type of the first floating tensor among values, those in containers included, that is not float64;
/// float64 when there is none.
DType first_float(std::span<const Tensor> values);

}  // namespace assay
