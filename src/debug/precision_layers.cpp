#include "debug/precision_layers.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>

#include "assay/error.h"
#include "graph/read.h"
#include "naming/graph_path.h"
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

using Test = std::function<bool(const Node&)>;

/// Whether it is a layer that a type can be asked for.
bool is_layer(const Node& n, const std::set<const Node*>& taken) {
  return n.op_type != "Constant" && !has_subgraph(n) && !taken.contains(&n) && gives_floats(n);
}

/// The layer's own name; empty where it has none.
std::string name_of(const Node& n) {
  const std::vector<std::string> names = origins_of(n);
  return names.empty() ? std::string() : names.front();
}

std::string op_of(const Node& n) { return n.domain.empty() ? n.op_type : ""; }

std::vector<PrecisionLayer> layers_that(const Model& model, const std::vector<LayerTypes>& asked,
                                        const Test& test) {
  std::vector<PrecisionLayer> layers;
  std::set<std::string> known;
  const std::set<const Node*> taken = selected(model, asked);
  for (const auto& n : model.graph->nodes()) {
    if (!is_layer(*n, taken) || !test(*n)) continue;
    const std::string name = name_of(*n);
    if (!name.empty() && known.insert(name).second) layers.push_back({name, op_of(*n)});
  }
  return layers;
}

/// How many nodes of the model, in bodies too, have each name: what is asked of one is asked of all.
std::map<std::string, size_t> count_names(const std::vector<GraphPlace>& places) {
  std::map<std::string, size_t> counts;
  for (const GraphPlace& place : places)
    for (const auto& n : place.graph->nodes()) ++counts[name_of(*n)];
  return counts;
}

void add_layers_of_bodies(const Model& model, const std::vector<LayerTypes>& asked, bool can_hold,
                          const Test& test, PrecisionLayers& found) {
  const std::vector<GraphPlace> places = graph_places(model);
  const std::map<std::string, size_t> counts = count_names(places);
  const std::set<const Node*> taken = selected(model, asked);
  for (const GraphPlace& place : places) {
    if (place.graph == model.graph.get() || place.function != nullptr) continue;
    std::vector<PrecisionLayer> layers;
    bool all_alone = can_hold && place.has_path;
    for (const auto& n : place.graph->nodes()) {
      if (!is_layer(*n, taken) || !test(*n)) continue;
      const std::string name = name_of(*n);
      all_alone = all_alone && !name.empty() && counts.at(name) == 1;
      layers.push_back({fmt::format("{}::{}", place.path, name), op_of(*n), place.path});
    }
    // A body is lowered as a whole, but for what is held.
    for (PrecisionLayer& layer : layers) {
      if (all_alone)
        found.layers.push_back(std::move(layer));
      else
        found.not_alone.push_back(std::move(layer.name));
    }
  }
}

bool has_constant_weights(const Node& n) { return n.input(1) != nullptr && n.input(1)->is_constant(); }

}  // namespace

std::vector<PrecisionLayer> markable_layers(const Model& model, const std::vector<LayerTypes>& asked) {
  return layers_that(model, asked, [](const Node&) { return true; });
}

PrecisionLayers lowerable_layers(const Model& model, DType dtype, const std::vector<LayerTypes>& asked) {
  const auto is_lowerable = [&](const Node& n) {
    return dtype == DType::kInt8
               ? facts_of(n, model).product == ProductFact::kFloats && has_constant_weights(n)
               : !hands_on(n, model);
  };
  PrecisionLayers found{.layers = layers_that(model, asked, is_lowerable)};
  add_layers_of_bodies(model, asked, /*can_hold=*/dtype != DType::kInt8, is_lowerable, found);
  return found;
}

}  // namespace assay::debug
