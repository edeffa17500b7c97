#include "inspect/model_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/python_repr.h"
#include "graph/initializer_data.h"
#include "graph/metadata_text.h"
#include "inspect/attribute_text.h"
#include "inspect/text_block.h"
#include "tensor/print.h"

namespace assay {
namespace {

/// What is known of a value, in brackets; empty for nothing. A tensor of unknown rank counts as a scalar, as
/// upstream has it.
std::string details(const Value& v) {
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

class ModelPrinter {
 public:
  explicit ModelPrinter(const ModelTextOptions& options) : options_(options) {}

  /// `depth` counts the graphs around it.
  std::string graph(const Graph& g, int depth);

 private:
  using Values = std::vector<const Value*>;

  std::string initializers(const Values& constants);
  std::string elements(const Value& v);
  std::string node(const Node& n, size_t index, int depth);
  std::string attributes(const Node& n, int depth);
  std::optional<std::string> attribute(const Attribute& a, int depth);
  /// {a [dtype=float32, shape=(1,)],\n b}; constants of `owner` are marked, unless it is null.
  template <typename List>
  static std::string braced(const List& values, const Graph* owner = nullptr);

  const ModelTextOptions& options_;
};

template <typename List>
std::string ModelPrinter::braced(const List& values, const Graph* owner) {
  std::string text = "{";
  for (const Value* v : values) {
    if (text.size() > 1) text += ",\n ";
    if (v == nullptr) continue;
    if (v->is_constant() && &v->graph() == owner) text += "Initializer | ";
    text += v->name();
    if (const std::string known = details(*v); !known.empty()) text += " " + known;
  }
  return text + "}";
}

std::string ModelPrinter::elements(const Value& v) {
  if (v.tensor().defined()) return array_str(v.tensor().aligned());
  if (is_weightless(v))
    log::once(
        log::Severity::kError,
        "Failed to load weights.\nNote: The data of '{}' and maybe of others were stripped; `assay surgeon "
        "weight-reconstruct` makes random ones.",
        v.name());
  else
    log::once(
        log::Severity::kError,
        "Failed to load weights.\nNote: The external data of '{}' and maybe of others were left out, as "
        "--ignore-external-data says.",
        v.name());
  return "<error: failed to load weights>";
}

std::string ModelPrinter::initializers(const Values& constants) {
  std::string text = fmt::format("---- {} Initializer(s) ----\n", constants.size());
  if (options_.weights && !constants.empty()) {
    for (const Value* v : constants) {
      const Shape shape = known_shape(v->type.dims.value_or(Dims())).value_or(Shape());
      text += fmt::format("Initializer | {} [{}] | Values:\n{}\n\n", v->name(),
                          tensor_details(v->type.dtype, shape), indented(elements(*v)));
    }
    return text;
  }
  if (options_.layers || options_.weights) text += braced(constants) + "\n";
  return text + "\n";
}

std::optional<std::string> ModelPrinter::attribute(const Attribute& a, int depth) {
  // Upstream indents a body by two levels for each graph around it, besides what the text around it has.
  if (const auto* sub = a.get_if<std::shared_ptr<Graph>>())
    return "\n" + indented(graph(**sub, depth + 1), 2 * (depth + 1));
  std::optional<std::string> text = attribute_text(a, options_.weights);
  if (!text) warn_of_skipped(a);
  return text;
}

std::string ModelPrinter::attributes(const Node& n, int depth) {
  std::string text;
  for (const Attribute& a : n.attributes)
    if (const std::optional<std::string> value = attribute(a, depth))
      text += indented(fmt::format("{}{}{} = {}", n.name, n.name.empty() ? "" : ".", a.name, *value)) + "\n";
  return text.empty() ? text : indented("---- Attributes ----") + "\n" + text;
}

std::string ModelPrinter::node(const Node& n, size_t index, int depth) {
  std::string text = fmt::format("Node {:<4} | {} [Op: {}]\n", index, n.name, n.op_type);
  text += indented(braced(n.inputs(), &n.graph()));
  const bool two_lines = !n.inputs().empty() && !n.outputs().empty();
  const int level = two_lines ? 1 : 0;
  if (two_lines) text += "\n";
  const std::string outputs = indented(braced(n.outputs(), &n.graph()), level);
  text += indented(fmt::format(" -> {}", stripped(outputs)), level) + "\n";
  if (options_.attrs) text += attributes(n, depth);
  return text + "\n";
}

std::string ModelPrinter::graph(const Graph& g, int depth) {
  const char* kind = depth > 0 ? "Subgraph" : "Graph";
  std::string text;
  if (options_.attrs && !g.doc_string.empty()) text += "---- Docstring ----\n" + g.doc_string + "\n\n";
  text += fmt::format("---- {} {} Input(s) ----\n{}\n\n", g.inputs.size(), kind, braced(g.inputs));
  text += fmt::format("---- {} {} Output(s) ----\n{}\n\n", g.outputs.size(), kind, braced(g.outputs));
  Values constants;
  for (const auto& v : g.values())
    if (v->is_constant()) constants.push_back(v.get());
  text += initializers(constants);
  text += fmt::format("---- {} Node(s) ----\n", g.nodes().size());
  if (options_.layers)
    for (size_t i = 0; i < g.nodes().size(); ++i) text += node(*g.nodes()[i], i, depth);
  return text;
}

}  // namespace

std::string model_title(const Model& model) {
  std::string version = "Unknown";
  std::vector<OpsetImport> others;
  for (const OpsetImport& o : model.opsets) {
    if (o.domain.empty() || o.domain == "ai.onnx") {
      version = std::to_string(o.version);
      continue;
    }
    const auto same = std::find_if(others.begin(), others.end(),
                                   [&](const OpsetImport& other) { return other.domain == o.domain; });
    if (same == others.end())
      others.push_back(o);
    else
      same->version = o.version;
  }
  std::string text = fmt::format("Name: {} | ONNX Opset: {}", model.graph->name, version);
  if (others.empty()) return text;
  std::string dict;
  for (const OpsetImport& o : others)
    dict += fmt::format("{}{}: {}", dict.empty() ? "" : ", ", python_str_repr(o.domain), o.version);
  return text + " | Other Opsets: {" + dict + "}";
}

std::string model_text(const Model& model, const ModelTextOptions& options) {
  const std::string text = model_title(model) + "\n\n" + ModelPrinter(options).graph(*model.graph, 0);
  return std::string(stripped(text));
}

}  // namespace assay
