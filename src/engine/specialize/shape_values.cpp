#include "engine/specialize/shape_values.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/infer.h"

namespace assay::engine {
namespace {

bool has_known_shape(const Value& v) {
  return v.type.is_tensor() && v.type.has_shape() && known_shape(*v.type.dims).has_value();
}

/// The graph inputs that a value is computed from; nothing when one of them, or a value on the way, is too
/// large to be a shape.
class Leaves {
 public:
  explicit Leaves(const Graph& g) : inputs_(g.inputs.begin(), g.inputs.end()) {}

  bool collect(const Value& from, std::unordered_set<const Value*>& found) const {
    std::unordered_set<const Value*> seen = {&from};
    std::vector<const Value*> open = {&from};
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      if (v->is_constant()) continue;
      if (!has_known_shape(*v) || known_shape(*v->type.dims)->numel() > kMaxShapeValues) return false;
      if (inputs_.contains(v)) found.insert(v);
      if (v->producer() == nullptr) continue;
      for (const Value* input : v->producer()->inputs())
        if (input != nullptr && seen.insert(input).second) open.push_back(input);
    }
    return true;
  }

 private:
  std::unordered_set<const Value*> inputs_;
};

}  // namespace

std::vector<size_t> shape_value_inputs(Model& model) {
  std::vector<std::pair<const Node*, const Value*>> wanted;
  infer_shapes(model,
               {.on_unknown_value = [&](const Node& n, const Value& v) { wanted.emplace_back(&n, &v); }});
  const Graph& g = *model.graph;
  const Leaves leaves(g);
  std::unordered_set<const Value*> deciding;
  for (const auto& [node, value] : wanted) {
    const bool known = std::all_of(node->outputs().begin(), node->outputs().end(),
                                   [](const Value* v) { return v == nullptr || has_known_shape(*v); });
    if (known || &value->graph() != &g || !is_integer(value->type.dtype)) continue;
    std::unordered_set<const Value*> found;
    if (leaves.collect(*value, found)) deciding.insert(found.begin(), found.end());
  }
  std::vector<size_t> positions;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (deciding.contains(g.inputs[i])) positions.push_back(i);
  return positions;
}

}  // namespace assay::engine
