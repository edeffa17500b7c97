// Selects regions and their candidates: the cover of the graph that takes the least time, including layout
// changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/planner/choice_memory.h"
#include "engine/planner/clusters.h"
#include "engine/planner/options.h"

namespace assay::engine {

/// Costs of steps. Seconds.
class Costs {
 public:
  virtual ~Costs() = default;
  /// Sets Option::seconds of all options of a region. They compute the same.
  virtual void rate(std::vector<Option>& options) = 0;
  /// Conversion of a value of this type and shape between layouts; 0 if both are the same memory.
  virtual double reorder(const Value& v, const Shape& shape, Format from, Format to) = 0;
};

/// Costs without measurements: each candidate's estimate (TacticDef, estimate_seconds), and memory bandwidth
/// for layout changes.
class EstimatedCosts final : public Costs {
 public:
  void rate(std::vector<Option>& options) override;
  double reorder(const Value& v, const Shape& shape, Format from, Format to) override;
};

/// A region with its options, and the chosen one.
struct Choice {
  Region region;
  RegionOptions options;
  size_t chosen = 0;
  /// See Step::why.
  std::string why = {};

  const Option& option() const { return options.options[chosen]; }
};

/// Callbacks of the selection.
struct SelectHooks {
  /// Removes options of a region; their times are known.
  std::function<void(const Region&, std::vector<Option>&)> filter;
  /// Called before each cluster: the numbers of completed and of all clusters.
  std::function<void(size_t done, size_t total)> progress;
  /// Regions with recorded choices for similar shapes
  /// reuse them without further queries; null: no records.
  const ChoiceMemory* memory = nullptr;
};

/// One choice for every selected region, in execution order. A measured candidate must be 3 % faster than one
/// before it in the fixed order (regions that fuse most first, then tactics.def) to replace it, so that
/// choices between equal ones are stable across builds.
/// Throws Error naming a node that no tactic can run.
std::vector<Choice> select(const Model& model, OptionMaker& maker, Costs& costs,
                           const SelectHooks& hooks = {});

}  // namespace assay::engine
