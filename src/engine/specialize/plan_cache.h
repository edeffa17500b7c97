// A cache of recently used plans, keyed by shapes.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/specialize/input_extents.h"

namespace assay::engine {

class Specializer;

/// A plan, with the planners of its embedded networks.
struct ReadyPlan {
  PlanKey key;
  /// For a plan for many shapes, whose key has none: the shapes that it serves.
  std::optional<InputExtents> extents;
  std::shared_ptr<const Plan> plan;
  std::vector<std::shared_ptr<Specializer>> networks;
};

/// The memory of plans and their contexts: packed weights, once for all that share them, and an average per
/// step. Excludes the arena: one user's contexts share the largest.
class PlanMemory {
 public:
  void add(const Plan& plan);
  void remove(const Plan& plan);
  /// The memory of the other plans, without sharing with this one.
  size_t bytes_beside(const Plan& plan) const;

 private:
  std::unordered_map<const void*, size_t> users_;  // users of packed weights
  size_t bytes_ = 0;
};

/// Items with one plan each, most recently used first; the least recently used are evicted when there are
/// more than kMaxPlans, or when the others take more than kMaxBytes in addition to the newest.
/// `plan_in(item)` is the item's ReadyPlan.
template <typename Item>
class PlanCache {
 public:
  static constexpr size_t kMaxPlans = 1024;
  static constexpr size_t kMaxBytes = size_t{512} << 20;

  /// The item with a plan for exactly these inputs, which is moved to the front; null when there is none.
  Item* find(std::span<const Tensor> inputs) {
    const auto [begin, end] = places_.equal_range(hash_of_shapes(inputs));
    for (auto it = begin; it != end; ++it)
      if (plan_in(*it->second).key.matches(inputs)) return use(it->second);
    return nullptr;
  }
  /// The same with a plan for many shapes. `inputs` may be empty where no elements are known.
  Item* find_open(std::span<const Shape* const> shapes, std::span<const Tensor> inputs) {
    for (const auto item : open_)
      if (plan_in(*item).extents->hold(shapes) && has_values(plan_in(*item).key, inputs)) return use(item);
    return nullptr;
  }

  /// True when there is one for these shapes, regardless of elements.
  bool has_shapes(std::span<const Tensor> inputs) const {
    const auto [begin, end] = places_.equal_range(hash_of_shapes(inputs));
    return std::any_of(begin, end,
                       [&](const auto& place) { return plan_in(*place.second).key.has_shapes(inputs); });
  }

  template <typename... Arguments>
  Item& emplace(Arguments&&... arguments) {
    Item& item = items_.emplace_front(std::forward<Arguments>(arguments)...);
    if (plan_in(item).extents)
      open_.push_back(items_.begin());
    else
      places_.emplace(plan_in(item).key.hash_of_shapes(), items_.begin());
    const Plan& plan = *plan_in(item).plan;
    memory_.add(plan);
    while (items_.size() > 1 && (items_.size() > kMaxPlans || memory_.bytes_beside(plan) > kMaxBytes))
      drop_last();
    return item;
  }

  size_t size() const { return items_.size(); }
  Item& front() { return items_.front(); }
  const Item& front() const { return items_.front(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  using Place = typename std::list<Item>::iterator;

  static bool has_values(const PlanKey& key, std::span<const Tensor> inputs) {
    return std::all_of(key.values.begin(), key.values.end(), [&](const auto& value) {
      return value.first < inputs.size() && inputs[value.first].identical(value.second);
    });
  }

  Item* use(Place item) {
    if (item != items_.begin()) items_.splice(items_.begin(), items_, item);
    return &items_.front();
  }

  void drop_last() {
    const ReadyPlan& last = plan_in(items_.back());
    if (last.extents) {
      std::erase_if(open_, [&](const Place& place) { return &*place == &items_.back(); });
    } else {
      const auto [begin, end] = places_.equal_range(last.key.hash_of_shapes());
      places_.erase(
          std::find_if(begin, end, [&](const auto& place) { return &*place.second == &items_.back(); }));
    }
    memory_.remove(*last.plan);
    items_.pop_back();
  }

  std::list<Item> items_;
  std::unordered_multimap<size_t, Place> places_;
  std::vector<Place> open_;  // items of plans for many shapes
  PlanMemory memory_;
};

}  // namespace assay::engine
