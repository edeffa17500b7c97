#include "inspect/damaged_payload.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "inspect/element_preview.h"
#include "inspect/viewer_json.h"

namespace assay {
namespace {

class DamagedPayload {
 public:
  DamagedPayload(JsonWriter& json, const DamagedModel& model)
      : json_(json), model_(model), constants_(model.initializers.begin(), model.initializers.end()) {}

  std::vector<std::string> write() {
    interface(model_.inputs, /*is_input=*/true);
    for (size_t i = 0; i < model_.nodes.size(); ++i) node(i);
    interface(model_.outputs, /*is_input=*/false);
    return std::move(ids_);
  }

 private:
  void values(std::string_view key, const std::vector<std::string>& names, bool marks_constants) {
    json_.key(key).begin_array();
    for (const std::string& name : names) {
      json_.begin_object();
      json_.key("name").value(marks_constants && constants_.contains(name) ? "Initializer | " + name : name);
      for (const char* unknown : {"dtype", "shape", "docstring", "weight_preview"}) json_.key(unknown).null();
      json_.end_object();
    }
    json_.end_array();
  }
  void end() {
    json_.key("attrs").begin_array().end_array();
    json_.key("subgraphs").begin_object().end_object();
    json_.key("origin").null();
    json_.key("tactic").null();
    json_.end_object();
  }
  void interface(const std::vector<std::string>& names, bool is_input) {
    for (size_t i = 0; i < names.size(); ++i) {
      ids_.push_back(fmt::format("{}_{}", is_input ? "input" : "output", i));
      begin_viewed_node(json_, {is_input ? "input" : "output", ids_.back(), names[i],
                                is_input ? "Graph Input" : "Graph Output"});
      values("inputs", is_input ? std::vector<std::string>() : std::vector{names[i]}, false);
      values("outputs", is_input ? std::vector{names[i]} : std::vector<std::string>(), false);
      end();
    }
  }
  void node(size_t i) {
    const DamagedNode& n = model_.nodes[i];
    ids_.push_back(fmt::format("node_{}", i));
    begin_viewed_node(json_, {"node", ids_.back(), n.name, n.op_type});
    if (!n.domain.empty()) json_.key("domain").value(n.domain);
    if (model_.place == i) json_.key("problem").value(shortened(model_.problem));
    values("inputs", n.inputs, true);
    values("outputs", n.outputs, false);
    end();
  }

  JsonWriter& json_;
  const DamagedModel& model_;
  std::set<std::string> constants_;
  std::vector<std::string> ids_;
};

}  // namespace

void write_damaged_payload(JsonWriter& json, const DamagedModel& model, std::string_view path) {
  json.begin_object();
  write_viewed_info(json, path,
                    {fmt::format("Damaged: {}", model.name.empty() ? "no name" : model.name), "onnx",
                     model.nodes.size(), model.inputs.size(), model.outputs.size()});
  json.key("problem").value(model.problem);
  json.key("nodes").begin_object();
  std::vector<std::string> ids = DamagedPayload(json, model).write();
  json.end_object();
  write_viewed_graphs(json,
                      std::vector<ViewedGraph>{{model.name.empty() ? "Graph" : model.name, std::move(ids)}});
  json.end_object();
}

}  // namespace assay
