// Models as plain data: what they hold, what they cost, how two of them differ.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "assay/edit.h"
#include "assay/inspect.h"
#include "assay/loaders.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using ModelRef = std::shared_ptr<Model>;

nb::dict graph_dict(const GraphDescription& g);

template <typename T>
nb::object number_list(const std::vector<T>& values) {
  nb::list list;
  for (const T& v : values) list.append(v);
  return list;
}

/// Of each kind of attribute, what Python would write.
struct AttributeValue {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(float v) const { return nb::float_(static_cast<double>(v)); }
  nb::object operator()(int64_t v) const { return nb::int_(v); }
  nb::object operator()(const std::string& v) const { return to_text(v); }
  nb::object operator()(const UnalignedTensor& v) const { return to_array(v); }
  nb::object operator()(const std::shared_ptr<Graph>&) const { return nb::none(); }
  nb::object operator()(const Type& v) const { return to_text(v.str()); }
  nb::object operator()(const Attribute::Sparse& v) const {
    return nb::make_tuple(to_array(v.values, true), to_array(v.indices, true), from_shape(Shape(v.dims)));
  }
  nb::object operator()(const std::vector<float>& v) const { return number_list(v); }
  nb::object operator()(const std::vector<int64_t>& v) const { return number_list(v); }
  nb::object operator()(const Attribute::Graphs&) const { return nb::none(); }
  template <typename T>
  nb::object operator()(const std::vector<T>& values) const {
    nb::list list;
    for (const T& v : values) list.append((*this)(v));
    return list;
  }
  nb::object operator()(const Tensor& v) const { return to_array(v, true); }
};

nb::list value_names(const std::vector<DescribedValue>& values) {
  nb::list list;
  for (const DescribedValue& v : values)
    list.append(v == nullptr ? nb::none() : nb::object(to_text(v->name)));
  return list;
}

nb::list values_list(const std::vector<DescribedValue>& values) {
  nb::list list;
  for (const DescribedValue& v : values) list.append(describe_value(v->name, v->type));
  return list;
}

nb::dict node_dict(const NodeDescription& n) {
  nb::dict d, attributes;
  for (const AttributeDescription& a : n.attributes)
    attributes[to_text(a.name)] =
        a.graph != nullptr ? nb::object(graph_dict(*a.graph)) : std::visit(AttributeValue(), a.data);
  d["name"] = to_text(n.name);
  d["op_type"] = to_text(n.op_type);
  d["domain"] = to_text(n.domain);
  d["inputs"] = value_names(n.inputs);
  d["outputs"] = value_names(n.outputs);
  d["attributes"] = attributes;
  return d;
}

nb::dict graph_dict(const GraphDescription& g) {
  nb::dict d;
  d["name"] = to_text(g.name);
  d["inputs"] = values_list(g.inputs);
  d["outputs"] = values_list(g.outputs);
  d["initializer_count"] = g.initializer_count;
  d["node_count"] = g.node_count;
  nb::list initializers, nodes;
  for (const InitializerDescription& i : g.initializers)
    initializers.append(describe_value(i.value->name, i.value->type));
  for (const NodeDescription& n : g.nodes) nodes.append(node_dict(n));
  d["initializers"] = initializers;
  d["nodes"] = nodes;
  return d;
}

nb::dict inspect(const ModelRef& model, bool layers, bool attributes) {
  const ModelDescription description =
      without_lock([&] { return describe(*model, {.layers = layers, .attrs = attributes}); });
  nb::dict d = graph_dict(description.graph);
  nb::dict opsets;
  if (description.opset) opsets[""] = *description.opset;
  for (const auto& [domain, version] : description.other_opsets) opsets[to_text(domain)] = version;
  d["opsets"] = opsets;
  return d;
}

nb::str text(const ModelRef& model, bool layers, bool attributes, bool weights) {
  const std::string t = without_lock(
      [&] { return model_text(*model, {.layers = layers, .attrs = attributes, .weights = weights}); });
  return to_text(t);
}

ModelStats stats_of(const ModelRef& model) {
  return without_lock([&] { return model_stats(*poly::PrepareNetwork(model)()); });
}

nb::dict diff_dict(const ModelDiff& diff) {
  nb::list differences;
  for (const ModelDifference& x : diff.differences)
    differences.append(nb::make_tuple(to_text(name_of(x.kind)), to_text(name_of(x.change)), to_text(x.what),
                                      to_text(x.before), to_text(x.after),
                                      x.max_difference ? nb::cast(*x.max_difference) : nb::none()));
  nb::dict d;
  d["differences"] = differences;
  d["nodes_a"] = diff.nodes_a;
  d["nodes_b"] = diff.nodes_b;
  d["matched"] = diff.matched;
  d["renamed_nodes"] = diff.renamed_nodes;
  d["renamed_values"] = diff.renamed_values;
  d["text"] = to_text(diff_text(diff));
  return d;
}

nb::list unsupported(const ModelRef& model) {
  const std::vector<UnsupportedNode> found = without_lock([&] {
    const ModelRef own = copy(*model);
    return find_unsupported(*own);
  });
  nb::list list;
  for (const UnsupportedNode& n : found)
    list.append(nb::make_tuple(to_text(n.name), to_text(n.op), to_text(n.reason)));
  return list;
}

}  // namespace

void bind_inspection(nb::module_& m, nb::class_<Model>& model) {
  model.def("inspect", &inspect, nb::arg("layers") = true, nb::arg("attributes") = true)
      .def("text", &text, nb::arg("layers") = false, nb::arg("attributes") = false,
           nb::arg("weights") = false)
      .def("stats_json", [](const ModelRef& s) { return to_text(stats_json(stats_of(s))); })
      .def(
          "stats_text",
          [](const ModelRef& s, bool layers) { return to_text(stats_text(stats_of(s), layers)); },
          nb::arg("layers") = false)
      .def("unsupported", &unsupported);
  m.def("diff_models", [](const ModelRef& a, const ModelRef& b) {
    return diff_dict(without_lock([&] { return diff_models(*a, *b); }));
  });
}

}  // namespace assay::python
