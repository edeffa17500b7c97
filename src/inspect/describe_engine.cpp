// An engine as plain data.
#include <fmt/format.h>

#include "assay/inspect.h"
#include "engine/objects/state.h"
#include "engine/objects/type_wishes.h"

namespace assay {
namespace {

std::vector<PlanValueDescription> describe_values(const engine::Plan& plan, const std::vector<int32_t>& ids) {
  std::vector<PlanValueDescription> list;
  for (const int32_t id : ids) {
    if (id < 0) continue;
    const engine::PlanValue& v = plan.values[static_cast<size_t>(id)];
    list.push_back({.name = v.name,
                    .dtype = v.dtype,
                    .shape = v.has_shape ? std::optional(v.shape) : std::nullopt,
                    .format = v.layout.is_blocked() ? fmt::format("Channels in blocks of {}", v.layout.block)
                              : v.layout.is_channels_last() ? "Channels last"
                                                            : "Row major linear",
                    .bytes = v.bytes(),
                    .is_constant = v.storage == engine::Storage::kConstant});
  }
  return list;
}

PlanLayerDescription describe_step(const engine::Plan& plan, const engine::Step& step) {
  PlanLayerDescription layer{.name = engine::step_name(step),
                             .tactic = std::string(step.tactic),
                             .inputs = describe_values(plan, step.inputs),
                             .outputs = describe_values(plan, step.outputs),
                             .origins = {step.origins.begin(), step.origins.end()},
                             .way = engine::tactic_text(step),
                             .parameters = {},
                             .computes = engine::computes_text(step)};
  for (const auto& [name, value] : step.parameters.entries())
    layer.parameters.push_back(engine::parameter_text(name, value));
  return layer;
}

std::vector<DType> precisions(const engine::SavedRules& rules) {
  std::vector<DType> types = {DType::kFloat32};
  if (rules.precisions.float16) types.push_back(DType::kFloat16);
  if (rules.precisions.bfloat16) types.push_back(DType::kBFloat16);
  if (rules.quantization != nullptr) types.push_back(DType::kInt8);
  return types;
}

std::string type_summary(const engine::SavedRules& rules, const engine::Plan* plan) {
  return plan == nullptr || (precisions(rules).size() == 1 && rules.types.empty()) ? std::string()
                                                                                   : type_summary_of(*plan);
}

}  // namespace

EngineDescription describe(const Engine& engine, const DescribeOptions& options) {
  const auto& plans = engine.state().saved.plans;
  const engine::Plan* plan = plans.empty() ? nullptr : plans.front().plan.get();
  EngineDescription d{.name = engine.name(),
                      .is_refittable = engine.is_refittable(),
                      .lacks_weights = engine.lacks_weights(),
                      .tensors = engine.io_tensors(),
                      .device_memory = engine.device_memory_size(),
                      .precisions = precisions(engine.state().saved.rules),
                      .type_summary = type_summary(engine.state().saved.rules, plan),
                      .profiles = engine.profiles(),
                      .plan_count = plans.size(),
                      .layer_count = plan != nullptr ? plan->steps.size() : 0,
                      .shown = options};
  if (options.layers && plan != nullptr)
    for (const engine::Step& step : plan->steps) d.layers.push_back(describe_step(*plan, step));
  return d;
}

}  // namespace assay
