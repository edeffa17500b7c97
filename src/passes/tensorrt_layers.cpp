#include "passes/tensorrt_layers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "assay/error.h"
#include "base/python_repr.h"
#include "base/similar_name.h"

namespace assay {
namespace {

struct LayerType {
  std::string_view name, operators;
};
constexpr LayerType kLayerTypes[] = {
#define ASSAY_LAYER_TYPE(name, operators) {#name, operators},
#include "passes/tensorrt_layers.def"
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

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

std::string_view tensorrt_layer_type(const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> types = types_by_operator();
  const auto it = node.domain.empty() || node.domain == "ai.onnx" ? types.find(node.op_type) : types.end();
  return it == types.end() ? "PLUGIN_V3" : it->second;
}

void mark_outputs_by_layer_type(Model& model, std::span<const std::string> types, bool add) {
  Graph& graph = *model.graph;
  std::set<std::string> known, wanted;
  for (const auto& node : graph.nodes()) known.emplace(tensorrt_layer_type(*node));
  for (const std::string& type : types) {
    if (known.contains(upper(type))) {
      wanted.insert(upper(type));
      continue;
    }
    const std::vector<std::string> all(known.begin(), known.end());
    const auto near = nearest_names(upper(type), std::vector<std::string_view>(all.begin(), all.end()));
    Error error(ErrorCode::kNotFound,
                fmt::format("No TensorRT layer type {} was found", python_str_repr(type)));
    throw error.set_remedy(near.empty() ? fmt::format("Available layer types: {}", python_list_repr(all))
                                        : fmt::format("Did you mean one of: {}?", python_list_repr(near)));
  }
  std::vector<Value*> outputs;
  if (add) outputs = graph.outputs;
  std::unordered_set<const Value*> seen(outputs.begin(), outputs.end());
  for (const auto& node : graph.nodes())
    if (wanted.contains(std::string(tensorrt_layer_type(*node))))
      for (Value* v : node->outputs())
        if (v != nullptr && !v->name().empty() && seen.insert(v).second) outputs.push_back(v);
  graph.outputs = std::move(outputs);
}

}  // namespace assay
