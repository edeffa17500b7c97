#include "base/json_writer.h"
#include "engine/objects/state.h"

namespace assay {
namespace {

/// The steps that inspectors show: those of the first plan.
const engine::Plan* shown_plan(const Engine& engine) {
  const auto& plans = engine.state().saved.plans;
  return plans.empty() ? nullptr : plans.front().plan.get();
}

std::string format_text(const engine::PlanValue& v) {
  return fmt::format("{}{} {}", v.dtype == DType::kUndefined ? "" : dtype_name(v.dtype),
                     v.has_shape ? v.shape.str() : "(?)", v.layout.str());
}

void write_values(JsonWriter& json, const engine::Plan& plan, const std::vector<int32_t>& ids) {
  json.begin_array();
  for (const int32_t id : ids) {
    if (id < 0) continue;
    const engine::PlanValue& v = plan.values[static_cast<size_t>(id)];
    json.begin_object().key("Name").value(v.name).key("Dimensions").begin_array();
    for (const int64_t d : v.shape) json.value(d);
    json.end_array().key("Format/Datatype").value(format_text(v)).end_object();
  }
  json.end_array();
}

void write_layer(JsonWriter& json, const engine::Plan& plan, const engine::Step& step) {
  json.begin_object()
      .key("Name")
      .value(engine::step_name(step))
      .key("LayerType")
      .value(step.tactic)
      .key("Inputs");
  write_values(json, plan, step.inputs);
  json.key("Outputs");
  write_values(json, plan, step.outputs);
  json.key("TacticName").value(engine::tactic_text(step));
  json.key("Precision").value(engine::computes_text(step)).key("Metadata").begin_array();
  for (const std::string& origin : step.origins) json.value(origin);
  json.end_array().end_object();
}

std::string computing(const engine::Step& step) {
  const std::string text = engine::computes_text(step);
  return text.empty() ? text : " in " + text;
}

std::string values_text(const engine::Plan& plan, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) {
    if (id < 0) continue;
    const engine::PlanValue& v = plan.values[static_cast<size_t>(id)];
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", v.name, format_text(v));
  }
  return text;
}

}  // namespace

EngineInspector::EngineInspector(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}

size_t EngineInspector::layer_count() const {
  const engine::Plan* plan = shown_plan(*engine_);
  return plan != nullptr ? plan->steps.size() : 0;
}

std::string EngineInspector::layer_information(size_t layer, Format format) const {
  require(layer < layer_count(), ErrorCode::kInvalidArgument,
          "the engine '{}' has {} layers, so there is no layer {}", engine_->name(), layer_count(), layer);
  const engine::Plan& plan = *shown_plan(*engine_);
  const engine::Step& step = plan.steps[layer];
  if (format == Format::kOneLine)
    return fmt::format("{} ({}{}): {} -> {}", engine::step_name(step), engine::tactic_text(step),
                       computing(step), values_text(plan, step.inputs), values_text(plan, step.outputs));
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  write_layer(json, plan, step);
  return text;
}

std::string EngineInspector::engine_information(Format format) const {
  const engine::Plan* plan = shown_plan(*engine_);
  std::string text;
  if (format == Format::kOneLine) {
    for (size_t i = 0; i < layer_count(); ++i) text += layer_information(i, format) + "\n";
    return text;
  }
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("Layers").begin_array();
  if (plan != nullptr)
    for (const engine::Step& step : plan->steps) write_layer(json, *plan, step);
  json.end_array().key("Bindings").begin_array();
  for (const IoTensor& t : engine_->io_tensors()) json.value(t.name);
  json.end_array().end_object();
  return text;
}

}  // namespace assay
