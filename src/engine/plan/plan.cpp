#include "engine/plan/plan.h"

#include <algorithm>

namespace assay::engine {

std::string Layout::str() const { return block == 0 ? "row" : fmt::format("blocked{}", block); }

size_t layout_bytes(DType dtype, const Shape& shape, Layout layout) {
  if (!layout.is_blocked()) return storage_bytes(dtype, shape.numel());
  Shape padded = shape;
  padded[1] = (shape[1] + layout.block - 1) / layout.block * layout.block;
  return storage_bytes(dtype, padded.numel());
}

bool same_memory(const Shape& shape, Layout a, Layout b) {
  if (a == b) return true;
  if (shape.rank() < 2 || shape.numel(2, shape.size()) != 1) return false;
  for (const Layout l : {a, b})
    if (l.is_blocked() && shape[1] % l.block != 0) return false;
  return true;
}

std::string step_name(const Step& step) {
  std::string name;
  for (const std::string& origin : step.origins) name += (name.empty() ? "" : " + ") + origin;
  return name.empty() ? step.tactic : name;
}

std::string tactic_text(const Step& step) {
  return step.variant.empty() ? step.tactic : step.tactic + ":" + step.variant;
}

bool PlanKey::has_shapes(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_container() && inputs[i].shape() != shapes[i]) return false;
  return true;
}

bool PlanKey::matches(std::span<const Tensor> inputs) const {
  return has_shapes(inputs) && std::all_of(values.begin(), values.end(), [&](const auto& v) {
           return inputs[v.first].identical(v.second);
         });
}

namespace {

std::string place_text(const PlanValue& v) {
  switch (v.storage) {
    case Storage::kUnused:
      return "unused";
    case Storage::kArena:
      return fmt::format("arena+{}", v.offset);
    case Storage::kConstant:
      return fmt::format("constant {}", v.slot);
    case Storage::kInput:
      return fmt::format("input {}+{}", v.slot, v.offset);
    case Storage::kOutput:
      return fmt::format("output {}+{}", v.slot, v.offset);
    case Storage::kTensor:
      return "tensor";
  }
  return {};
}

std::string value_text(const Plan& plan, int32_t id) {
  if (id < 0) return "-";
  const PlanValue& v = plan.values[static_cast<size_t>(id)];
  const std::string shape = v.has_shape ? v.shape.str() : "(?)";
  return fmt::format("{}: {}{} {} @ {}", v.name, dtype_name(v.dtype), shape, v.layout.str(), place_text(v));
}

void append_step(std::string& text, const Plan& plan, size_t index) {
  const Step& s = plan.steps[index];
  text += fmt::format("step {}: {}\n", index, s.tactic);
  std::string origins;
  for (const std::string& name : s.origins) origins += (origins.empty() ? "" : ", ") + name;
  if (!origins.empty()) text += fmt::format("  from {}\n", origins);
  for (const int32_t id : s.inputs) text += fmt::format("  in   {}\n", value_text(plan, id));
  for (const int32_t id : s.outputs) text += fmt::format("  out  {}\n", value_text(plan, id));
  for (const auto& [name, value] : s.parameters.entries())
    text += fmt::format("  with {}\n", parameter_text(name, value));
  if (s.scratch_bytes > 0)
    text += fmt::format("  scratch {} bytes @ arena+{}\n", s.scratch_bytes, s.scratch_offset);
  for (const Refusal& r : s.refusals) text += fmt::format("  not {}: {}\n", r.tactic, r.reason);
}

}  // namespace

std::string plan_text(const Plan& plan) {
  size_t constant_bytes = 0;
  for (const PlanConstant& c : plan.constants) constant_bytes += c.tensor.nbytes();
  std::string text =
      fmt::format("{} steps, {} constants of {} bytes, arena of {} bytes, {} threads\n", plan.steps.size(),
                  plan.constants.size(), constant_bytes, plan.arena_bytes, plan.threads);
  for (const int32_t id : plan.inputs) text += fmt::format("input {}\n", value_text(plan, id));
  for (const int32_t id : plan.outputs) text += fmt::format("output {}\n", value_text(plan, id));
  for (size_t i = 0; i < plan.steps.size(); ++i) append_step(text, plan, i);
  return text;
}

}  // namespace assay::engine
