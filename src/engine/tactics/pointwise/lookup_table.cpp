#include "engine/tactics/pointwise/lookup_table.h"

#include <algorithm>
#include <unordered_map>

#include "passes/region.h"
#include "reference/evaluate.h"

namespace assay::engine {
namespace {

/// The result of a region with one input for this one.
Tensor evaluate_region(const Node& region, const Model& model, const Tensor& x) {
  const Graph& body = body_of(region);
  std::unordered_map<const Value*, Tensor> known = {{body.inputs.at(0), x}};
  const auto tensor_of = [&](const Value* v) {
    if (v == nullptr) return Tensor();
    const auto it = known.find(v);
    return it != known.end() ? it->second : v->tensor().aligned();
  };
  for (const auto& n : body.nodes()) {
    std::vector<Tensor> inputs;
    for (const Value* v : n->inputs()) inputs.push_back(tensor_of(v));
    known[n->output(0)] = is_region(*n) ? evaluate_region(*n, model, inputs.at(0))
                                        : evaluate_node(*n, require_op(*n, model), std::move(inputs)).at(0);
  }
  return tensor_of(body.outputs.at(0));
}

}  // namespace

kernels::ByteTable lookup_table(const Node& region, const Model& model) {
  // Of the operand's rank, which its constants may have, too.
  const Type& type = region.input(0)->type;
  Shape shape;
  for (size_t d = 1; type.has_shape() && d < type.dims->size(); ++d) shape.push_back(1);
  shape.push_back(256);
  Tensor all = Tensor::allocate(type.dtype, shape);
  auto* const values = static_cast<uint8_t*>(all.mutable_data());
  for (int i = 0; i < 256; ++i) values[i] = static_cast<uint8_t>(i);
  const Tensor results = evaluate_region(region, model, all);
  kernels::ByteTable table;
  std::copy_n(static_cast<const uint8_t*>(results.data()), table.size(), table.begin());
  return table;
}

}  // namespace assay::engine
