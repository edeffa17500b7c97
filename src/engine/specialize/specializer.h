// Plans of one network for any shapes.
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

/// Builds plans on demand and caches them (PlanCache). Shape-independent data are shared by all. If
/// kSameExtents successive sets of shapes are new and differ only in a few extents, as with a growing cache,
/// one plan is made for any values of these extents, if most of the network does not depend on them. Inputs
/// whose elements vary in most runs (the counter of a loop) are ignored after kMaxValueMisses plans for the
/// same shapes: parts that depend on them then wait for their shapes at run time. Thread-safe; one thread at
/// a time builds a plan.
class Specializer {
 public:
  static constexpr int kMaxValueMisses = 4;
  static constexpr size_t kSameExtents = 3;
  static constexpr size_t kMaxNotOpen = 16;

  Specializer(std::shared_ptr<const Model> model, BuildConfig config);
  /// For a network in a plan; starts with its own plan, if it has one.
  Specializer(const PlanNetwork& network, BuildConfig config);

  /// Converts the network to canonical form now rather than with the first plan. Throws Error naming a node
  /// that violates a rule.
  void open();
  /// The same with a network that is already in canonical form: the builder of added plans, with the same
  /// settings.
  void open(PlanBuilder builder);
  /// Reuses the choices of this plan for similar shapes, like those of added plans.
  void learn(const Plan& plan) { config_.memory->learn(plan); }
  /// Adds an existing plan.
  void add(PlanKey key, std::shared_ptr<const Plan> plan);
  /// Builds the plan for inputs of these shapes in advance, if it does not depend on their elements;
  /// otherwise null. It may serve other shapes, too. Throws Error.
  std::shared_ptr<const ReadyPlan> prepare(const std::vector<Shape>& shapes);
  /// The shapes of outputs for inputs of these shapes, if they do not depend on elements of inputs. Throws
  /// Error.
  std::vector<std::optional<Shape>> output_shapes(const std::vector<Shape>& shapes);
  /// Builds the plan for shapes and values known in advance. Throws Error.
  std::shared_ptr<const ReadyPlan> make(const PlanKey& key);
  /// The plan for these inputs, in the order of the network's. `alone`: not a plan that serves other shapes,
  /// too. Throws Error.
  std::shared_ptr<const ReadyPlan> plan_for(std::span<const Tensor> inputs, bool alone = false);

  const BuildConfig& config() const { return config_; }
  size_t plan_count() const;
  /// Plans built since it exists.
  const PlanCounts& built() const { return *config_.built; }

 private:
  PlanBuilder& opened();
  std::shared_ptr<const ReadyPlan> keep(PlanKey key, std::shared_ptr<const Plan> plan,
                                        std::optional<InputExtents> extents = std::nullopt);
  std::shared_ptr<const ReadyPlan> open_plan(const std::vector<Shape>& shapes,
                                             std::span<const Tensor> inputs);

  std::shared_ptr<const Model> model_;  // null when there is one plan only
  BuildConfig config_;
  mutable std::mutex mutex_;
  std::optional<PlanBuilder> builder_;
  /// Inputs whose elements determine shapes, as
  /// far as known: found while plans are built.
  std::vector<size_t> value_inputs_;
  int value_misses_ = 0;
  bool ignores_values_ = false;
  std::vector<PlanKey> new_keys_;       ///< the last kSameExtents that there was no plan for
  std::vector<InputExtents> not_open_;  ///< the last for which no plan could be built
  PlanCache<std::shared_ptr<const ReadyPlan>> plans_;
};

}  // namespace assay::engine
