#include "inspect/network_text.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "graph/metadata_text.h"
#include "inspect/attribute_text.h"
#include "inspect/text_block.h"
#include "tensor/print.h"

namespace assay {
namespace {

struct LayerType {
  std::string_view name, operators;
};
constexpr LayerType kLayerTypes[] = {
#define ASSAY_LAYER_TYPE(name, operators) {#name, operators},
#include "inspect/layer_types.def"
#undef ASSAY_LAYER_TYPE
};

std::unordered_map<std::string_view, std::string_view> types_by_operator() {
  std::unordered_map<std::string_view, std::string_view> types;
  for (const LayerType& t : kLayerTypes)
    for (std::string_view rest = t.operators; !rest.empty();) {
      const size_t end = rest.find(' ');
      types.emplace(rest.substr(0, end), t.name);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  return types;
}

/// Such inputs are part of a layer, as its weights.
bool is_weight(std::string_view type, size_t input, const Value& v) {
  if (!v.is_constant()) return false;
  return (type == "CONVOLUTION" || type == "DECONVOLUTION" || type == "SCALE") && input > 0;
}

/// {a [dtype=float32, shape=(1, -1)],
///  b}
std::string braced(const std::vector<const Value*>& values) {
  std::string text = "{";
  for (const Value* v : values) {
    text += (text.size() > 1 ? ",\n " : "") + v->name();
    if (!v->type.is_tensor()) continue;
    std::vector<int64_t> extents;
    for (const Dim& d : v->type.dims.value_or(Dims())) extents.push_back(d.is_known() ? d.value() : -1);
    text += fmt::format(" [dtype={}, shape={}]", dtype_name(v->type.dtype), Shape(extents).str());
  }
  return text + "}";
}

class NetworkPrinter {
 public:
  explicit NetworkPrinter(const ModelTextOptions& options) : options_(options) {}

  void add(const Node& n) {
    const std::string_view type = layer_type(n);
    std::vector<const Value*> inputs, outputs;
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr || is_weight(type, i, *v)) continue;
      if (v->is_constant()) add_constant(*v);
      inputs.push_back(v);
    }
    for (const Value* v : n.outputs())
      if (v != nullptr) outputs.push_back(v);
    std::string attributes;
    for (const Attribute& a : n.attributes)
      if (const auto value = attribute_text(a, options_.weights))
        attributes += indented(fmt::format("{}.{} = {}", n.name, a.name, *value)) + "\n";
    add_layer(n.name, type, inputs, outputs, attributes);
  }

  size_t count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  void add_constant(const Value& v) {
    if (!constants_.insert(&v).second) return;
    std::string attributes;
    if (options_.weights && v.tensor().defined())
      attributes =
          indented(fmt::format("{}.weights =\n{}", v.name(), indented(array_str(v.tensor().aligned())))) +
          "\n";
    add_layer(v.name(), "CONSTANT", {}, {&v}, attributes);
  }

  void add_layer(std::string_view name, std::string_view type, const std::vector<const Value*>& inputs,
                 const std::vector<const Value*>& outputs, const std::string& attributes) {
    const size_t index = count_++;
    if (!options_.layers) return;
    text_ += fmt::format("Layer {:<4} | {} [Op: LayerType.{}]\n", index, name, type);
    text_ += indented(braced(inputs));
    const int level = inputs.empty() || outputs.empty() ? 0 : 1;
    if (level > 0) text_ += "\n";
    text_ += indented(fmt::format(" -> {}", stripped(indented(braced(outputs), level))), level) + "\n";
    if (options_.attrs && !attributes.empty()) text_ += indented("---- Attributes ----") + "\n" + attributes;
    text_ += "\n";
  }

  const ModelTextOptions& options_;
  std::unordered_set<const Value*> constants_;
  size_t count_ = 0;
  std::string text_;
};

std::vector<const Value*> tensors(const std::vector<Value*>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::string_view layer_type(const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> types = types_by_operator();
  const auto it = node.domain.empty() || node.domain == "ai.onnx" ? types.find(node.op_type) : types.end();
  return it == types.end() ? "PLUGIN_V3" : it->second;
}

std::string network_text(const Model& model, const ModelTextOptions& options) {
  const Graph& g = *model.graph;
  NetworkPrinter printer(options);
  for (const auto& n : g.nodes()) printer.add(*n);
  std::string text =
      fmt::format("Name: {} | Explicit Batch Network\n\n", g.name.empty() ? "Unnamed Network 0" : g.name);
  text += fmt::format("---- {} Network Input(s) ----\n{}\n\n", g.inputs.size(), braced(tensors(g.inputs)));
  text += fmt::format("---- {} Network Output(s) ----\n{}\n\n", g.outputs.size(), braced(tensors(g.outputs)));
  text += fmt::format("---- {} Layer(s) ----\n{}", printer.count(), printer.text());
  return std::string(stripped(text));
}

}  // namespace assay
