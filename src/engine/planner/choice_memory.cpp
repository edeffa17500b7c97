#include "engine/planner/choice_memory.h"

#include <algorithm>
#include <span>

namespace assay::engine {
namespace {

std::string key_of(std::span<const std::string> origins) {
  std::string key;
  for (const std::string& name : origins) key.append(name).push_back('\n');
  return key;
}

bool may_stand_for(const std::optional<Shape>& a, const std::optional<Shape>& b) {
  return a.has_value() == b.has_value() && (!a || are_near(*a, *b));
}

}  // namespace

bool are_near(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t least = std::min(a[i], b[i]), most = std::max(a[i], b[i]);
    if (least != most && most >= 2 * least) return false;
  }
  return true;
}

void ChoiceMemory::learn(const Plan& plan) {
  const std::lock_guard lock(mutex_);
  for (const Step& step : plan.steps) {
    if (step.origins.empty()) continue;  // the step of no region
    Known known{.option = tactic_text(step), .operands = {}};
    for (const std::vector<int32_t>* ids : {&step.inputs, &step.outputs})
      for (const int32_t id : *ids) {
        const PlanValue* v = id < 0 ? nullptr : &plan.values[static_cast<size_t>(id)];
        known.operands.push_back(v != nullptr && v->has_shape && v->storage != Storage::kConstant
                                     ? std::optional(v->shape)
                                     : std::nullopt);
      }
    std::vector<Known>& all = known_[key_of(step.origins)];
    const auto is_near_to = [&](const Known& k) {
      return std::equal(k.operands.begin(), k.operands.end(), known.operands.begin(), known.operands.end(),
                        may_stand_for);
    };
    // What was taken over from near shapes stays near to those that it was chosen for.
    if (std::any_of(all.begin(), all.end(),
                    [&](const Known& k) { return k.option == known.option && is_near_to(k); }))
      continue;
    std::erase_if(all, is_near_to);
    all.insert(all.begin(), std::move(known));
    if (all.size() > kMax) all.pop_back();
  }
}

bool ChoiceMemory::empty() const {
  const std::lock_guard lock(mutex_);
  return known_.empty();
}

std::vector<ChoiceMemory::Known> ChoiceMemory::of(const Region& region) const {
  const std::string key = key_of(origins_of(region));
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(key);
  return it == known_.end() ? std::vector<Known>() : it->second;
}

bool ChoiceMemory::is_near(const Known& known, const Candidate& candidate, OptionMaker& maker) {
  if (known.operands.size() != candidate.inputs.size() + candidate.outputs.size()) return false;
  auto next = known.operands.begin();
  for (const auto* operands : {&candidate.inputs, &candidate.outputs})
    for (const Candidate::Operand& o : *operands) {
      const bool is_constant = o.value == nullptr || o.value->tensor().defined();
      const Shape* shape = is_constant ? nullptr : maker.shape_of(o.value);
      if (shape == nullptr ? next->has_value() : !next->has_value() || !are_near(**next, *shape))
        return false;
      ++next;
    }
  return true;
}

}  // namespace assay::engine
