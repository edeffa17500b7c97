// An engine as plain data.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

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

/// The owner of a value's memory: an input of the plan, or the value that a step wrote last; several may
/// share it, with other names and shapes.
class Owners {
 public:
  explicit Owners(const engine::Plan& plan) : plan_(plan) { note(plan.inputs); }
  void note(const std::vector<int32_t>& written) {
    for (const int32_t id : written)
      if (id >= 0) by_place_[place(id)] = id;
  }
  /// The value itself if no step has written it.
  const engine::PlanValue& of(int32_t id) const {
    const auto it = by_place_.find(place(id));
    return plan_.values[static_cast<size_t>(it == by_place_.end() ? id : it->second)];
  }

 private:
  using Place = std::tuple<engine::Storage, int32_t, int64_t>;
  Place place(int32_t id) const {
    const engine::PlanValue& v = plan_.values[static_cast<size_t>(id)];
    return {v.storage, v.slot, v.offset};
  }
  const engine::Plan& plan_;
  std::map<Place, int32_t> by_place_;
};

PlanLayerDescription describe_step(const engine::Plan& plan, const engine::Step& step, const Owners& owners) {
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
  // A copy writes an output that is an alias of another value.
  if (step.tactic == "copy" && step.inputs.size() == 1 && layer.inputs.size() == 1)
    layer.inputs[0].name = owners.of(step.inputs[0]).name;
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

/// In what a step's weights are stored; empty: in what it computes in.
std::string storage_of(const engine::Plan& plan, const engine::Step& step) {
  if (step.tactic == "nbits_matmul" || step.tactic == "nbits_conv")
    return fmt::format("{} bits", step.parameters.number("bits"));
  if (step.tactic != "dequantize" || step.inputs.at(0) < 0) return {};
  const engine::PlanValue& v = plan.values[static_cast<size_t>(step.inputs[0])];
  return v.storage == engine::Storage::kConstant ? std::string(dtype_name(v.dtype)) : std::string();
}

std::vector<std::string> stored_weights(const engine::Plan& plan) {
  std::map<std::string, size_t> counts;
  for (const engine::Step& step : plan.steps)
    if (std::string storage = storage_of(plan, step); !storage.empty()) ++counts[std::move(storage)];
  std::vector<std::string> list;
  for (const auto& [storage, count] : counts) list.push_back(fmt::format("{} of {}", count, storage));
  return list;
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
  if (plan != nullptr) d.stored_weights = stored_weights(*plan);
  for (const engine::NearMiss& m : engine.state().saved.near_misses)
    d.near_misses.push_back({.layer = m.layer, .reason = m.reason, .multiply_adds = m.multiply_adds});
  if (!options.layers || plan == nullptr) return d;
  Owners owners(*plan);
  for (const engine::Step& step : plan->steps) {
    d.layers.push_back(describe_step(*plan, step, owners));
    owners.note(step.outputs);
  }
  return d;
}

void add_layer_times(EngineDescription& engine, const std::map<std::string, double>& milliseconds) {
  for (NearMissDescription& m : engine.near_misses)
    if (const auto it = milliseconds.find(m.layer); it != milliseconds.end()) m.milliseconds = it->second;
  std::stable_sort(engine.near_misses.begin(), engine.near_misses.end(),
                   [](const NearMissDescription& a, const NearMissDescription& b) {
                     return a.milliseconds.value_or(0) > b.milliseconds.value_or(0);
                   });
}

}  // namespace assay
