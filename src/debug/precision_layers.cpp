#include "debug/precision_layers.h"

#include <functional>
#include <set>

#include "assay/error.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "naming/selector.h"
#include "ops/node_facts.h"

namespace assay::debug {
namespace {

bool is_engine_float(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16;
}

bool gives_floats(const Node& n) {
  for (const Value* v : n.outputs())
    if (v != nullptr && v->type.is_tensor() && is_engine_float(v->type.dtype)) return true;
  return false;
}

std::set<const Node*> selected(const Model& model, const std::vector<LayerTypes>& asked) {
  std::set<const Node*> nodes;
  for (const LayerTypes& wish : asked) try {
      for (const Node* n : select_nodes(const_cast<Model&>(model), wish.layers)) nodes.insert(n);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kNotFound) throw;  // the builder says whether that is an error
    }
  return nodes;
}

std::vector<PrecisionLayer> layers_that(const Model& model, const std::vector<LayerTypes>& asked,
                                        const std::function<bool(const Node&)>& test) {
  std::vector<PrecisionLayer> layers;
  std::set<std::string> known;
  const std::set<const Node*> taken = selected(model, asked);
  for (const auto& n : model.graph->nodes()) {
    if (n->op_type == "Constant" || has_subgraph(*n) || taken.contains(n.get())) continue;
    if (!gives_floats(*n) || !test(*n)) continue;
    const std::vector<std::string> names = origins_of(*n);
    if (names.empty() || !known.insert(names.front()).second) continue;
    layers.push_back({names.front(), n->domain.empty() ? n->op_type : ""});
  }
  return layers;
}

bool has_constant_weights(const Node& n) { return n.input(1) != nullptr && n.input(1)->is_constant(); }

}  // namespace

std::vector<PrecisionLayer> markable_layers(const Model& model, const std::vector<LayerTypes>& asked) {
  return layers_that(model, asked, [](const Node&) { return true; });
}

std::vector<PrecisionLayer> lowerable_layers(const Model& model, DType dtype,
                                             const std::vector<LayerTypes>& asked) {
  return layers_that(model, asked, [&](const Node& n) {
    return dtype == DType::kInt8
               ? facts_of(n, model).product == ProductFact::kFloats && has_constant_weights(n)
               : !hands_on(n, model);
  });
}

}  // namespace assay::debug
