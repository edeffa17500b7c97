// A model as plain data.
#include <algorithm>

#include "graph/initializer_data.h"
#include "inspect/model_describer.h"

namespace assay {

GraphDescription ModelDescriber::outline(const Graph& g, int depth) {
  GraphDescription d{.name = g.name,
                     .doc_string = g.doc_string,
                     .depth = depth,
                     .inputs = values_.of(g.inputs),
                     .outputs = values_.of(g.outputs),
                     .node_count = g.nodes().size()};
  for (const auto& v : g.values()) d.initializer_count += v->is_constant() ? 1 : 0;
  return d;
}

GraphDescription ModelDescriber::graph(const Graph& g, int depth) {
  GraphDescription d = outline(g, depth);
  if (has_initializers())
    for (const auto& v : g.values())
      if (v->is_constant()) d.initializers.push_back(initializer(*v));
  if (has_nodes())
    for (const auto& n : g.nodes()) d.nodes.push_back(node(*n, depth));
  return d;
}

InitializerDescription ModelDescriber::initializer(const Value& v) {
  InitializerDescription d{.value = values_.of(&v)};
  if (!v.tensor().defined())
    d.data =
        is_weightless(v) ? InitializerDescription::Data::kStripped : InitializerDescription::Data::kLeftOut;
  else if (options_.weights)
    d.elements = v.tensor();
  return d;
}

NodeDescription ModelDescriber::node(const Node& n, int depth) {
  NodeDescription d{.name = n.name,
                    .op_type = n.op_type,
                    .domain = n.domain,
                    .inputs = values_.of(n.inputs()),
                    .outputs = values_.of(n.outputs())};
  if (!options_.attrs) return d;
  for (const Attribute& a : n.attributes) {
    AttributeDescription& attribute = d.attributes.emplace_back();
    attribute.name = a.name;
    attribute.type = a.type_name();
    if (const auto* body = a.get_if<std::shared_ptr<Graph>>())
      attribute.graph = std::make_shared<const GraphDescription>(graph(**body, depth + 1));
    else if (a.get_if<Attribute::Graphs>() == nullptr)
      attribute.data = a.data;
  }
  return d;
}

ModelDescription describe_title(const Model& model, const DescribeOptions& options) {
  ModelDescription d{.graph = {.name = model.graph->name}, .shown = options};
  for (const OpsetImport& o : model.opsets) {
    if (o.domain.empty() || o.domain == "ai.onnx") {
      d.opset = o.version;
      continue;
    }
    const auto same = std::find_if(d.other_opsets.begin(), d.other_opsets.end(),
                                   [&](const auto& other) { return other.first == o.domain; });
    if (same == d.other_opsets.end())
      d.other_opsets.emplace_back(o.domain, o.version);
    else
      same->second = o.version;
  }
  return d;
}

ModelDescription describe(const Model& model, const DescribeOptions& options) {
  ModelDescription d = describe_title(model, options);
  d.graph = ModelDescriber(options).graph(*model.graph, 0);
  return d;
}

}  // namespace assay
