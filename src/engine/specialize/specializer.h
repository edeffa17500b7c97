// Plans of one network for whatever shapes come.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/specialize/plan_builder.h"
#include "engine/specialize/plan_cache.h"

namespace assay::engine {

inline const ReadyPlan& plan_in(const std::shared_ptr<const ReadyPlan>& item) { return *item; }

/// Makes plans when they are needed and keeps them (PlanCache). What does not depend on shapes is shared by
/// all. Where kSameExtents sets of shapes in a row are new and differ in a few extents only, as with a cache
/// that grows, one plan is made for whatever these extents are, if most of the network does not depend on
/// them. Inputs that hold something else in most runs (the counter of a loop) are no longer looked at after
/// kMaxValueMisses plans for the same shapes: what hangs on them waits for its shapes in the run instead. May
/// be used by several threads; one at a time makes a plan.
class Specializer {
 public:
  static constexpr int kMaxValueMisses = 4;
  static constexpr size_t kSameExtents = 3;
  static constexpr size_t kMaxNotOpen = 16;

  Specializer(std::shared_ptr<const Model> model, BuildConfig config);
  /// For a network in a plan; its own plan, if it has one, is there from the beginning.
  Specializer(const PlanNetwork& network, BuildConfig config);

  /// Brings the network into canonical form now rather than with the first plan. Throws Error naming the node
  /// that breaks a rule.
  void open();
  /// The same with a network that is in canonical form already: the builder of plans that are added, which
  /// was allowed the same.
  void open(PlanBuilder builder);
  /// Steps are chosen as in this plan where shapes are near, as they are as in those that are added.
  void learn(const Plan& plan) { config_.memory->learn(plan); }
  /// Adds a plan that is there already.
  void add(PlanKey key, std::shared_ptr<const Plan> plan);
  /// Makes the plan for inputs of these shapes ahead, where it does not depend on what they hold; null where
  /// it does. It may serve other shapes, too. Throws Error.
  std::shared_ptr<const ReadyPlan> prepare(const std::vector<Shape>& shapes);
  /// The shapes that outputs have with inputs of these shapes, as far as they do not depend on what inputs
  /// hold. Throws Error.
  std::vector<std::optional<Shape>> output_shapes(const std::vector<Shape>& shapes);
  /// Makes the plan for shapes and values that are known beforehand. Throws Error.
  std::shared_ptr<const ReadyPlan> make(const PlanKey& key);
  /// The plan for these inputs, in the order of the network's. `alone`: not one that serves other shapes,
  /// too. Throws Error.
  std::shared_ptr<const ReadyPlan> plan_for(std::span<const Tensor> inputs, bool alone = false);

  const BuildConfig& config() const { return config_; }
  size_t plan_count() const;

 private:
  PlanBuilder& opened();
  std::shared_ptr<const ReadyPlan> keep(PlanKey key, std::shared_ptr<const Plan> plan,
                                        std::optional<InputExtents> extents = std::nullopt);
  std::shared_ptr<const ReadyPlan> open_plan(const std::vector<Shape>& shapes);

  std::shared_ptr<const Model> model_;  // null when there is one plan only
  BuildConfig config_;
  mutable std::mutex mutex_;
  std::optional<PlanBuilder> builder_;
  /// Inputs that decide about shapes by what they hold, as far as that is known: it comes out while plans are
  /// made.
  std::vector<size_t> value_inputs_;
  int value_misses_ = 0;
  bool ignores_values_ = false;
  std::vector<std::vector<Shape>> new_shapes_;  ///< the last kSameExtents that there was no plan for
  std::vector<InputExtents> not_open_;          ///< the last for which no plan came about
  PlanCache<std::shared_ptr<const ReadyPlan>> plans_;
};

}  // namespace assay::engine
