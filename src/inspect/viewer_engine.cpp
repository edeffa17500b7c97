#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

#include "engine/objects/state.h"
#include "inspect/element_preview.h"
#include "inspect/viewer_json.h"
#include "inspect/viewer_payload.h"

namespace assay {
namespace {

/// The layers of one plan.
class PlanPayload {
 public:
  PlanPayload(JsonWriter& json, const engine::Plan& plan, std::string prefix)
      : json_(json), plan_(plan), prefix_(std::move(prefix)), is_written_(plan.values.size()) {
    for (const engine::PlanValue& v : plan.values) ++uses_of_name_[v.name];
  }

  /// Writes all nodes; returns their ids.
  std::vector<std::string> write();

 private:
  void interface(bool is_input);
  void layer(size_t i);
  void values(std::string_view name, const std::vector<int32_t>& ids);
  void value(int32_t id);
  /// The name of a value in the payload.
  std::string name_of(int32_t id) const;
  /// Records that a value has its bytes from here on.
  void written(int32_t id);
  /// The value that was written to this one's memory, if that is another: views of a tensor have no layers.
  int32_t source_of(int32_t id) const;
  /// The layout of a value if it is not row-major, and its name if it is a view.
  std::string note_of(int32_t id) const;
  void attribute(std::string_view name, std::string_view text);
  std::string begin(std::string_view kind, size_t i, std::string_view name, std::string_view op_type);
  void end(std::string_view origin, std::string_view tactic);

  JsonWriter& json_;
  const engine::Plan& plan_;
  std::string prefix_;
  std::map<std::string_view, int> uses_of_name_;
  using Place = std::tuple<engine::Storage, int32_t, int64_t>;
  std::map<Place, int32_t> last_written_;
  std::vector<bool> is_written_;
  std::vector<std::string> ids_;
};

std::string PlanPayload::name_of(int32_t id) const {
  const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
  // One tensor may be there in several layouts; the page joins nodes by name.
  const auto uses = uses_of_name_.find(v.name);
  return uses != uses_of_name_.end() && uses->second > 1 ? fmt::format("{} #{}", v.name, id) : v.name;
}

void PlanPayload::written(int32_t id) {
  if (id < 0) return;
  const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
  is_written_[static_cast<size_t>(id)] = true;
  last_written_[{v.storage, v.slot, v.offset}] = id;
}

int32_t PlanPayload::source_of(int32_t id) const {
  const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
  if (is_written_[static_cast<size_t>(id)]) return id;
  const auto last = last_written_.find({v.storage, v.slot, v.offset});
  return last != last_written_.end() ? last->second : id;
}

std::string PlanPayload::note_of(int32_t id) const {
  const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
  std::string note;
  if (v.layout.is_blocked()) note = fmt::format("Channels in blocks of {}", v.layout.block);
  if (v.layout.is_channels_last()) note = "Channels last";
  if (source_of(id) != id) note += fmt::format("{}Seen as {}", note.empty() ? "" : ". ", v.name);
  return note;
}

void PlanPayload::value(int32_t id) {
  if (id < 0) {
    json_.begin_object();
    json_.key("name").value("");
    json_.key("dtype").null();
    json_.key("shape").null();
    json_.key("docstring").null();
    json_.key("weight_preview").null();
    json_.end_object();
    return;
  }
  const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
  const bool is_constant = v.storage == engine::Storage::kConstant;
  const Dims dims = v.has_shape ? to_dims(v.shape) : Dims();
  json_.begin_object();
  json_.key("name").value(is_constant ? "Initializer | " + name_of(id) : name_of(source_of(id)));
  json_.key("dtype").value(dtype_name(v.dtype));
  json_.key("shape");
  write_extents(json_, v.has_shape ? &dims : nullptr);
  json_.key("docstring");
  const std::string note = note_of(id);
  if (note.empty())
    json_.null();
  else
    json_.value(shortened(note));
  json_.key("weight_preview");
  const auto slot = static_cast<size_t>(v.slot);
  if (is_constant && slot < plan_.constants.size() && plan_.constants[slot].packing.empty() &&
      plan_.constants[slot].tensor.defined() && !plan_.constants[slot].tensor.is_container())
    write_preview(json_, plan_.constants[slot].tensor);
  else
    json_.null();
  json_.end_object();
}

void PlanPayload::values(std::string_view name, const std::vector<int32_t>& ids) {
  json_.key(name).begin_array();
  for (const int32_t id : ids) value(id);
  json_.end_array();
}

void PlanPayload::attribute(std::string_view name, std::string_view text) {
  json_.begin_object();
  json_.key("key").value(name);
  json_.key("val").value(shortened(text));
  json_.key("weight_preview").null();
  json_.end_object();
}

std::string PlanPayload::begin(std::string_view kind, size_t i, std::string_view name,
                               std::string_view op_type) {
  ids_.push_back(fmt::format("{}{}_{}", prefix_, kind, i));
  begin_viewed_node(json_, {kind, ids_.back(), name, op_type});
  return ids_.back();
}

void PlanPayload::end(std::string_view origin, std::string_view tactic) {
  json_.key("subgraphs").begin_object().end_object();
  json_.key("origin");
  if (origin.empty())
    json_.null();
  else
    json_.value(shortened(origin));
  json_.key("tactic");
  if (tactic.empty())
    json_.null();
  else
    json_.value(tactic);
  json_.end_object();
}

void PlanPayload::interface(bool is_input) {
  const std::vector<int32_t>& list = is_input ? plan_.inputs : plan_.outputs;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string_view name =
        list[i] < 0 ? std::string_view() : plan_.values[static_cast<size_t>(list[i])].name;
    begin(is_input ? "input" : "output", i, name, is_input ? "Graph Input" : "Graph Output");
    if (is_input) written(list[i]);
    values("inputs", is_input ? std::vector<int32_t>() : std::vector<int32_t>{list[i]});
    values("outputs", is_input ? std::vector<int32_t>{list[i]} : std::vector<int32_t>());
    json_.key("attrs").begin_array().end_array();
    end("", "");
  }
}

void PlanPayload::layer(size_t i) {
  const engine::Step& step = plan_.steps[i];
  begin("node", i, engine::step_name(step), step.tactic);
  values("inputs", step.inputs);
  for (const int32_t id : step.outputs) written(id);
  values("outputs", step.outputs);
  json_.key("attrs").begin_array();
  for (const auto& [name, value] : step.parameters.entries())
    attribute(name, std::string_view(engine::parameter_text(name, value)).substr(name.size() + 1));
  json_.end_array();
  std::string origins;
  for (const std::string& origin : step.origins) origins += (origins.empty() ? "" : ", ") + origin;
  end(origins, engine::tactic_text(step));
}

std::vector<std::string> PlanPayload::write() {
  interface(/*is_input=*/true);
  for (size_t i = 0; i < plan_.steps.size(); ++i) layer(i);
  interface(/*is_input=*/false);
  return std::move(ids_);
}

}  // namespace

void write_engine_payload(JsonWriter& json, const Engine& engine, std::string_view path) {
  const std::vector<engine::SpecializedPlan>& plans = engine.state().saved.plans;
  const engine::Plan* first = plans.empty() ? nullptr : plans.front().plan.get();
  std::vector<ViewedGraph> graphs;
  json.begin_object();
  write_viewed_info(
      json, path,
      {fmt::format("Name: {}", engine.name().empty() ? "Unnamed Network 0" : engine.name()), "trt_engine",
       first != nullptr ? first->steps.size() : 0, engine.inputs().size(), engine.outputs().size()});
  json.key("nodes").begin_object();
  for (size_t p = 0; p < plans.size(); ++p)
    if (plans[p].plan != nullptr)
      graphs.push_back(
          {fmt::format("Profile {}", p), PlanPayload(json, *plans[p].plan, fmt::format("p{}_", p)).write()});
  json.end_object();
  if (graphs.empty()) graphs.push_back({"No layers: the weights have been left out"});
  write_viewed_graphs(json, graphs);
  json.end_object();
}

}  // namespace assay
