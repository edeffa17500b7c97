#include "convert/constant_node.h"

#include <algorithm>

#include "assay/error.h"
#include "graph/read.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

bool gives_small_tensors(const Node& n) {
  int64_t bytes = 0;
  for (const Value* v : n.outputs()) {
    if (v == nullptr) continue;
    const std::optional<Shape> shape = shape_of(v);
    if (!shape || dtype_of(v) == DType::kUndefined) return false;
    if (shape->numel() > kMaxConstantResult) return false;
    bytes += static_cast<int64_t>(storage_bytes(dtype_of(v), shape->numel()));
  }
  return bytes <= kMaxConstantResult;
}

}  // namespace

std::vector<Tensor> constant_results(const Node& node, const OpDef& op, const OpVersion& now,
                                     ConstantFinder& constants) {
  const bool is_open = std::any_of(node.attributes.begin(), node.attributes.end(),
                                   [](const Attribute& a) { return !a.ref_attr_name.empty(); });
  if (op.random || now.eval == nullptr || is_open || has_subgraph(node) || !gives_small_tensors(node))
    return {};
  std::vector<Tensor> inputs;
  for (const Value* v : node.inputs()) {
    const std::optional<Tensor> t = v != nullptr ? constants.value(v) : Tensor();
    if (!t) return {};
    inputs.push_back(*t);
  }
  try {
    return evaluate_node(node, {&op, &now}, std::move(inputs));
  } catch (const Error&) {
    // Errors caused by the model's own values are found by the checker.
    return {};
  }
}

}  // namespace assay
