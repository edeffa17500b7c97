// A model as the layers that TensorRT would have, as plain data.
#include <unordered_set>

#include "inspect/value_descriptions.h"
#include "passes/tensorrt_layers.h"

namespace assay {
namespace {

/// Such inputs are part of a layer, as its weights.
bool is_weight(std::string_view type, size_t input, const Value& v) {
  if (!v.is_constant()) return false;
  return (type == "CONVOLUTION" || type == "DECONVOLUTION" || type == "SCALE") && input > 0;
}

class NetworkDescriber {
 public:
  explicit NetworkDescriber(NetworkDescription& network) : network_(network) {}

  std::vector<DescribedValue> values(const std::vector<Value*>& list) { return values_.of(list); }

  void add(const Node& n) {
    LayerDescription layer{
        .name = n.name, .type = std::string(tensorrt_layer_type(n)), .inputs = {}, .outputs = {}};
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr || is_weight(layer.type, i, *v)) continue;
      if (v->is_constant()) add_constant(*v);
      layer.inputs.push_back(values_.of(v));
    }
    for (const Value* v : n.outputs())
      if (v != nullptr) layer.outputs.push_back(values_.of(v));
    for (const Attribute& a : n.attributes) {
      const bool is_graph =
          a.get_if<std::shared_ptr<Graph>>() != nullptr || a.get_if<Attribute::Graphs>() != nullptr;
      layer.attributes.push_back({.name = a.name,
                                  .type = std::string(a.type_name()),
                                  .data = is_graph ? Attribute::Data() : a.data});
    }
    add_layer(std::move(layer));
  }

 private:
  void add_constant(const Value& v) {
    if (!constants_.insert(&v).second) return;
    LayerDescription layer{.name = v.name(), .type = "CONSTANT", .inputs = {}, .outputs = {values_.of(&v)}};
    if (network_.shown.weights) layer.weights = v.tensor();
    add_layer(std::move(layer));
  }

  void add_layer(LayerDescription layer) {
    ++network_.layer_count;
    if (network_.shown.layers) network_.layers.push_back(std::move(layer));
  }

  NetworkDescription& network_;
  ValueDescriptions values_;
  std::unordered_set<const Value*> constants_;
};

}  // namespace

NetworkDescription describe_network(const Model& model, const DescribeOptions& options) {
  const Graph& g = *model.graph;
  NetworkDescription network{.name = g.name, .inputs = {}, .outputs = {}, .shown = options};
  NetworkDescriber describer(network);
  network.inputs = describer.values(g.inputs);
  network.outputs = describer.values(g.outputs);
  for (const auto& n : g.nodes()) describer.add(*n);
  return network;
}

}  // namespace assay
