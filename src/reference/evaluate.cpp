#include "reference/evaluate.h"

#include "graph/at_node.h"
#include "ops/check.h"
#include "ops/op_set.h"
#include "tensor/container.h"
#include "tensor/convert.h"

namespace assay {

BoundOp bind_op(const Node& node, const Model& model) {
  const OpDef* op = ops_of(model).find(node.domain, node.op_type);
  if (op == nullptr) return {};
  const OpVersion* version = version_for(*op, model.opset(node.domain));
  if (version == nullptr || version->eval == nullptr) return {};
  return {op, version};
}

BoundOp require_op(const Node& node, const Model& model) {
  if (const BoundOp bound = bind_op(node, model)) return bound;
  const std::string domain = node.domain.empty() ? "ai.onnx" : node.domain;
  const int64_t opset = model.opset(node.domain);
  const OpDef* op = ops_of(model).find(node.domain, node.op_type);
  require(opset != 0, ErrorCode::kInvalidModel, "the model does not import the domain '{}' of operator {}",
          domain, node.op_type);
  require(op != nullptr, ErrorCode::kUnsupported, "the operator {} of domain '{}' is unknown", node.op_type,
          domain);
  require(op->versions.front().since <= opset, ErrorCode::kUnsupported,
          "{} exists from version {} of '{}' on, but the model imports {}", node.op_type,
          op->versions.front().since, domain, opset);
  fail(ErrorCode::kUnsupported, "the operator {} of domain '{}' cannot be evaluated", node.op_type, domain);
}

Tensor widened(const Tensor& t) {
  if (!may_hold_floats_but(t, DType::kFloat64)) return t;
  return map_leaves(t, [](const Tensor& leaf) { return is_float(leaf.dtype()) ? to_float64(leaf) : leaf; });
}

namespace {

/// The value with floats of less than 32 bits converted to float32.
Tensor in_32_bits(const Tensor& t) {
  if (!may_hold_floats_but(t, DType::kFloat32)) return t;
  return map_leaves(t, [](const Tensor& leaf) {
    return is_float(leaf.dtype()) && bit_width(leaf.dtype()) < 32 ? convert(leaf, DType::kFloat32) : leaf;
  });
}

}  // namespace

Tensor rounded(const Tensor& t, DType dtype) {
  if (!may_hold_floats_but(t, dtype)) return t;
  return map_leaves(t,
                    [&](const Tensor& leaf) { return is_float(leaf.dtype()) ? convert(leaf, dtype) : leaf; });
}

namespace {

/// The only float type other than float64 in a container; nothing if there are several.
std::optional<DType> only_float(const Tensor& container) {
  std::optional<DType> found;
  for (int k = 0; k < kDTypeCount; ++k) {
    const auto dtype = static_cast<DType>(k);
    if ((container.leaf_types() >> k & 1) == 0 || !is_float(dtype) || dtype == DType::kFloat64) continue;
    if (found) return std::nullopt;
    found = dtype;
  }
  return found;
}

}  // namespace

DType first_float(std::span<const Tensor> values) {
  DType found = DType::kFloat64;
  for (const Tensor& t : values) {
    if (found != DType::kFloat64 || !may_hold_floats_but(t, DType::kFloat64)) continue;
    // Long lists are not searched.
    if (const std::optional<DType> only = t.is_container() ? only_float(t) : std::nullopt) {
      found = *only;
      continue;
    }
    for_each_leaf(t, [&](const Tensor& leaf) {
      if (found == DType::kFloat64 && is_float(leaf.dtype())) found = leaf.dtype();
    });
  }
  return found;
}

std::vector<Tensor> evaluate_node(const Node& node, BoundOp op, std::vector<Tensor> inputs,
                                  SubgraphRunner* subgraphs) {
  return at_node(node, [&] {
    const bool widen = op.op->types != EvalTypes::kAsStored;
    check_form(node, *op.op, *op.version);
    check_values(*op.op, *op.version, inputs, false);
    const DType fallback = first_float(inputs);
    if (widen)
      for (Tensor& t : inputs) t = op.op->types == EvalTypes::kFloat64 ? widened(t) : in_32_bits(t);
    EvalContext c(node, *op.op, *op.version, std::move(inputs), subgraphs);
    op.version->eval(c);
    std::vector<Tensor> outputs = std::move(c.outputs());
    for (size_t i = 0; i < outputs.size(); ++i) {
      require(outputs[i].defined() || !c.wants_output(i), ErrorCode::kInternal, "output {} was not computed",
              i);
      if (!widen || (!outputs[i].is_container() && !is_float(outputs[i].dtype()))) continue;
      const DType declared = c.declared_dtype(i);
      outputs[i] = rounded(outputs[i], is_float(declared) ? declared : fallback);
    }
    return outputs;
  });
}

std::vector<Tensor> evaluate_exactly(const Node& node, BoundOp op, std::vector<Tensor> inputs,
                                     SubgraphRunner* subgraphs) {
  return at_node(node, [&] {
    check_form(node, *op.op, *op.version);
    check_values(*op.op, *op.version, inputs, true);
    for (Tensor& t : inputs) t = widened(t);
    EvalContext c(node, *op.op, *op.version, std::move(inputs), subgraphs);
    c.ideal = true;
    op.version->eval(c);
    std::vector<Tensor> outputs = std::move(c.outputs());
    for (Tensor& t : outputs) t = widened(t);
    return outputs;
  });
}

}  // namespace assay
