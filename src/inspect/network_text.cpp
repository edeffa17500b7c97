// A network of TensorRT's layers as text, in Polygraphy's layout.
#include <fmt/format.h>

#include "assay/inspect.h"
#include "inspect/attribute_text.h"
#include "inspect/text_block.h"
#include "tensor/print.h"

namespace assay {
namespace {

/// {a [dtype=float32, shape=(1, -1)],
///  b}
std::string values_in_braces(const std::vector<DescribedValue>& values) {
  std::string text = "{";
  for (const DescribedValue& v : values) {
    text += (text.size() > 1 ? ",\n " : "") + v->name;
    if (!v->type.is_tensor()) continue;
    std::vector<int64_t> extents;
    for (const Dim& d : v->type.dims.value_or(Dims())) extents.push_back(d.is_known() ? d.value() : -1);
    text += fmt::format(" [dtype={}, shape={}]", dtype_name(v->type.dtype), Shape(extents).str());
  }
  return text + "}";
}

std::string layer_attributes_text(const LayerDescription& layer, bool weights) {
  std::string text;
  if (layer.weights.defined())
    text +=
        indented(fmt::format("{}.weights =\n{}", layer.name, indented(array_str(layer.weights.aligned())))) +
        "\n";
  for (const AttributeDescription& a : layer.attributes)
    if (const auto value = attribute_text(a.name, a.data, weights))
      text += indented(fmt::format("{}.{} = {}", layer.name, a.name, *value)) + "\n";
  return text;
}

std::string network_layer_text(const LayerDescription& layer, size_t index, const DescribeOptions& shown) {
  std::string text = fmt::format("Layer {:<4} | {} [Op: LayerType.{}]\n", index, layer.name, layer.type);
  text += indented(values_in_braces(layer.inputs));
  const int level = layer.inputs.empty() || layer.outputs.empty() ? 0 : 1;
  if (level > 0) text += "\n";
  text += indented(fmt::format(" -> {}", stripped(indented(values_in_braces(layer.outputs), level))), level) +
          "\n";
  if (const std::string attributes = shown.attrs ? layer_attributes_text(layer, shown.weights) : "";
      !attributes.empty())
    text += indented("---- Attributes ----") + "\n" + attributes;
  return text + "\n";
}

}  // namespace

std::string network_text(const NetworkDescription& network) {
  std::string text = fmt::format("Name: {} | Explicit Batch Network\n\n",
                                 network.name.empty() ? "Unnamed Network 0" : network.name);
  text += fmt::format("---- {} Network Input(s) ----\n{}\n\n", network.inputs.size(),
                      values_in_braces(network.inputs));
  text += fmt::format("---- {} Network Output(s) ----\n{}\n\n", network.outputs.size(),
                      values_in_braces(network.outputs));
  text += fmt::format("---- {} Layer(s) ----\n", network.layer_count);
  for (size_t i = 0; i < network.layers.size(); ++i)
    text += network_layer_text(network.layers[i], i, network.shown);
  return std::string(stripped(text));
}

}  // namespace assay
