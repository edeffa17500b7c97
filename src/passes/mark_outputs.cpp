#include "passes/mark_outputs.h"

#include <algorithm>

#include "assay/error.h"
#include "base/python_repr.h"
#include "base/similar_name.h"

namespace assay {
namespace {

constexpr size_t kMostHints = 5;

bool is_node_result(const Value& v) { return v.producer() != nullptr; }

bool may_be_output(const Graph& graph, const Value* v) {
  return v != nullptr &&
         (is_node_result(*v) || std::find(graph.inputs.begin(), graph.inputs.end(), v) != graph.inputs.end());
}

/// Names that contain a missing one, or the other way round, case ignored.
std::vector<std::string> similar_names(const Graph& graph, const std::vector<std::string>& missing) {
  std::vector<std::string> hints;
  for (const auto& v : graph.values()) {
    if (!may_be_output(graph, v.get())) continue;
    const bool is_similar = std::any_of(missing.begin(), missing.end(), [&](const std::string& m) {
      return !m.empty() && is_similar_name(v->name(), m);
    });
    if (is_similar && hints.size() < kMostHints) hints.push_back(v->name());
  }
  return hints;
}

void require_names(const Graph& graph, std::span<const std::string> names) {
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!may_be_output(graph, graph.find_value(name)) &&
        std::find(missing.begin(), missing.end(), name) == missing.end())
      missing.push_back(name);
  if (missing.empty()) return;
  std::string list;
  for (const std::string& name : missing) list += (list.empty() ? "" : ", ") + python_str_repr(name);
  Error error(ErrorCode::kNotFound, "The following outputs were not found in the model: {" + list + "}");
  if (const auto hints = similar_names(graph, missing); !hints.empty())
    error.set_remedy("Similar names are: " + python_list_repr(hints) + ".");
  throw error;
}

}  // namespace

void mark_outputs(Model& model, std::span<const std::string> names) {
  Graph& graph = *model.graph;
  require_names(graph, names);
  graph.outputs.clear();
  for (const std::string& name : names) {
    Value* value = graph.find_value(name);
    if (std::find(graph.outputs.begin(), graph.outputs.end(), value) == graph.outputs.end())
      graph.outputs.push_back(value);
  }
}

void mark_all_outputs(Model& model) {
  Graph& graph = *model.graph;
  graph.outputs.clear();
  for (const auto& node : graph.nodes()) {
    if (node->op_type == "Constant") continue;
    for (Value* output : node->outputs())
      if (output != nullptr) graph.outputs.push_back(output);
  }
}

void unmark_outputs(Model& model, std::span<const std::string> names) {
  Graph& graph = *model.graph;
  require_names(graph, names);
  std::erase_if(graph.outputs, [&](const Value* output) {
    return std::find(names.begin(), names.end(), output->name()) != names.end();
  });
}

}  // namespace assay
