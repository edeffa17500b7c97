#include "inspect/model_text.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "base/diagnostics.h"
#include "base/python_repr.h"
#include "base/wording.h"
#include "graph/metadata_text.h"
#include "inspect/attribute_text.h"
#include "inspect/model_describer.h"
#include "inspect/text_block.h"
#include "tensor/print.h"

namespace assay {
namespace {

/// The known properties of a value, in brackets; empty if none. A tensor of unknown rank counts as a scalar,
/// as in upstream.
std::string details(const ValueDescription& v) {
  switch (v.type.kind) {
    case Type::Kind::kUnknown:
      return "";
    case Type::Kind::kTensor: {
      const std::string shape = "shape=" + dims_str(v.type.dims.value_or(Dims()));
      if (v.type.dtype == DType::kUndefined) return "[" + shape + "]";
      return fmt::format("[dtype={}, {}]", dtype_name(v.type.dtype), shape);
    }
    default:
      return fmt::format("[type={}]", v.type.str());
  }
}

/// Calls with the initializers and nodes of a graph, one after the other.
struct Parts {
  std::function<void(const std::function<void(const InitializerDescription&)>&)> initializers;
  std::function<void(const std::function<void(const NodeDescription&)>&)> nodes;
};

Parts parts_of(const GraphDescription& g) {
  return {.initializers =
              [&](const auto& each) {
                for (const auto& i : g.initializers) each(i);
              },
          .nodes =
              [&](const auto& each) {
                for (const auto& n : g.nodes) each(n);
              }};
}

/// {a [dtype=float32, shape=(1,)],\n b}; constants of the graph of that depth are marked.
class Braced {
 public:
  explicit Braced(int depth = -1) : depth_(depth) {}
  void add(const DescribedValue& v) {
    if (text_.size() > 1) text_ += ",\n ";
    if (v == nullptr) return;
    if (v->is_constant && v->depth == depth_) text_ += "Initializer | ";
    text_ += v->name;
    if (const std::string known = details(*v); !known.empty()) text_ += " " + known;
  }
  std::string str() const { return text_ + "}"; }

 private:
  int depth_;
  std::string text_ = "{";
};

std::string braced(const std::vector<DescribedValue>& values, int depth = -1) {
  Braced list(depth);
  for (const DescribedValue& v : values) list.add(v);
  return list.str();
}

class ModelPrinter {
 public:
  explicit ModelPrinter(const DescribeOptions& options) : options_(options) {}

  std::string graph(const GraphDescription& outline, const Parts& parts);

 private:
  std::string initializers(const GraphDescription& outline, const Parts& parts);
  std::string elements(const InitializerDescription& i);
  std::string node(const NodeDescription& n, size_t index, int depth);
  std::string attributes(const NodeDescription& n);
  std::optional<std::string> attribute(const AttributeDescription& a);

  const DescribeOptions& options_;
};

std::string ModelPrinter::elements(const InitializerDescription& i) {
  if (i.data == InitializerDescription::Data::kPresent) return array_str(i.elements.aligned());
  if (i.data == InitializerDescription::Data::kStripped)
    diag::once(diag::Severity::kError,
               "Failed to load weights.\nNote: The data of '{}' and maybe of others were stripped; {}.",
               i.value->name, say(Say::kWeightsStripped));
  else
    diag::once(
        diag::Severity::kError,
        "Failed to load weights.\nNote: The external data of '{}' and maybe of others were left out, {}.",
        i.value->name, say(Say::kExternalDataIgnored));
  return "<error: failed to load weights>";
}

std::string ModelPrinter::initializers(const GraphDescription& outline, const Parts& parts) {
  std::string text = fmt::format("---- {} Initializer(s) ----\n", outline.initializer_count);
  if (options_.weights && outline.initializer_count > 0) {
    parts.initializers([&](const InitializerDescription& i) {
      const Type& type = i.value->type;
      const Shape shape = known_shape(type.dims.value_or(Dims())).value_or(Shape());
      text += fmt::format("Initializer | {} [{}] | Values:\n{}\n\n", i.value->name,
                          tensor_details(type.dtype, shape), indented(elements(i)));
    });
    return text;
  }
  if (options_.layers || options_.weights) {
    Braced list;
    parts.initializers([&](const InitializerDescription& i) { list.add(i.value); });
    text += list.str() + "\n";
  }
  return text + "\n";
}

std::optional<std::string> ModelPrinter::attribute(const AttributeDescription& a) {
  // Upstream indents a body by two steps for each enclosing graph, on top of the enclosing text's.
  if (a.graph != nullptr) return "\n" + indented(graph(*a.graph, parts_of(*a.graph)), 2 * a.graph->depth);
  std::optional<std::string> text = attribute_text(a.name, a.data, options_.weights);
  if (!text) warn_of_skipped(a.type);
  return text;
}

std::string ModelPrinter::attributes(const NodeDescription& n) {
  std::string text;
  for (const AttributeDescription& a : n.attributes)
    if (const std::optional<std::string> value = attribute(a))
      text += indented(fmt::format("{}{}{} = {}", n.name, n.name.empty() ? "" : ".", a.name, *value)) + "\n";
  return text.empty() ? text : indented("---- Attributes ----") + "\n" + text;
}

std::string ModelPrinter::node(const NodeDescription& n, size_t index, int depth) {
  std::string text = fmt::format("Node {:<4} | {} [Op: {}]\n", index, n.name, n.op_type);
  text += indented(braced(n.inputs, depth));
  const bool two_lines = !n.inputs.empty() && !n.outputs.empty();
  const int level = two_lines ? 1 : 0;
  if (two_lines) text += "\n";
  const std::string outputs = indented(braced(n.outputs, depth), level);
  text += indented(fmt::format(" -> {}", stripped(outputs)), level) + "\n";
  if (options_.attrs) text += attributes(n);
  return text + "\n";
}

std::string ModelPrinter::graph(const GraphDescription& g, const Parts& parts) {
  const char* kind = g.depth > 0 ? "Subgraph" : "Graph";
  std::string text;
  if (options_.attrs && !g.doc_string.empty()) text += "---- Docstring ----\n" + g.doc_string + "\n\n";
  text += fmt::format("---- {} {} Input(s) ----\n{}\n\n", g.inputs.size(), kind, braced(g.inputs));
  text += fmt::format("---- {} {} Output(s) ----\n{}\n\n", g.outputs.size(), kind, braced(g.outputs));
  text += initializers(g, parts);
  text += fmt::format("---- {} Node(s) ----\n", g.node_count);
  size_t index = 0;
  parts.nodes([&](const NodeDescription& n) { text += node(n, index++, g.depth); });
  return text;
}

}  // namespace

std::string model_title(const ModelDescription& model) {
  std::string text = fmt::format("Name: {} | ONNX Opset: {}", model.graph.name,
                                 model.opset ? std::to_string(*model.opset) : "Unknown");
  if (model.other_opsets.empty()) return text;
  std::string dict;
  for (const auto& [domain, version] : model.other_opsets)
    dict += fmt::format("{}{}: {}", dict.empty() ? "" : ", ", python_str_repr(domain), version);
  return text + " | Other Opsets: {" + dict + "}";
}

std::string model_text(const ModelDescription& model) {
  const std::string text =
      model_title(model) + "\n\n" + ModelPrinter(model.shown).graph(model.graph, parts_of(model.graph));
  return std::string(stripped(text));
}

std::string model_text(const Model& model, const DescribeOptions& options) {
  const Graph& g = *model.graph;
  ModelDescriber describer(options);
  const Parts parts = {.initializers =
                           [&](const auto& each) {
                             for (const auto& v : g.values())
                               if (v->is_constant()) {
                                 each(describer.initializer(*v));
                                 describer.forget();
                               }
                           },
                       .nodes =
                           [&](const auto& each) {
                             if (!describer.has_nodes()) return;
                             for (const auto& n : g.nodes()) {
                               each(describer.node(*n, 0));
                               describer.forget();
                             }
                           }};
  const std::string text = model_title(describe_title(model, options)) + "\n\n" +
                           ModelPrinter(options).graph(describer.outline(g, 0), parts);
  return std::string(stripped(text));
}

}  // namespace assay
