#include "engine/specialize/plan_cache.h"

#include <unordered_set>

namespace assay::engine {
namespace {

/// What a step, its kernel and what they know take on average, and a network in it with a few plans.
constexpr size_t kStepBytes = 8192, kNetworkBytes = 65536;

size_t bytes_of_structure(const Plan& plan) {
  return plan.steps.size() * kStepBytes + plan.networks.size() * kNetworkBytes;
}

}  // namespace

void PlanMemory::add(const Plan& plan) {
  bytes_ += bytes_of_structure(plan);
  for (const PlanConstant& c : plan.constants)
    if (c.is_packed() && users_[c.tensor.data()]++ == 0) bytes_ += c.tensor.nbytes();
}

size_t PlanMemory::bytes_beside(const Plan& plan) const {
  size_t own = bytes_of_structure(plan);
  std::unordered_set<const void*> counted;
  for (const PlanConstant& c : plan.constants)
    if (c.is_packed() && counted.insert(c.tensor.data()).second) own += c.tensor.nbytes();
  return bytes_ - own;
}

void PlanMemory::remove(const Plan& plan) {
  bytes_ -= bytes_of_structure(plan);
  for (const PlanConstant& c : plan.constants) {
    if (!c.is_packed()) continue;
    const auto it = users_.find(c.tensor.data());
    if (--it->second > 0) continue;
    bytes_ -= c.tensor.nbytes();
    users_.erase(it);
  }
}

}  // namespace assay::engine
