// Picks the regions that run, and how: the cover of the graph by candidates that takes the least time, layout
// changes included.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/planner/choice_memory.h"
#include "engine/planner/clusters.h"
#include "engine/planner/options.h"

namespace assay::engine {

/// What steps take. Seconds.
class Costs {
 public:
  virtual ~Costs() = default;
  /// Sets Option::seconds of all options of a region. They compute the same.
  virtual void rate(std::vector<Option>& options) = 0;
  /// A value of this type and shape brought from one layout into another; 0 where both are the same memory.
  virtual double reorder(const Value& v, const Shape& shape, Format from, Format to) = 0;
};

/// Costs without measurements: each candidate's own estimate (TacticDef, estimate_seconds), and memory's rate
/// for layout changes.
class EstimatedCosts final : public Costs {
 public:
  void rate(std::vector<Option>& options) override;
  double reorder(const Value& v, const Shape& shape, Format from, Format to) override;
};

/// A region with what tactics answered, and which of the options runs.
struct Choice {
  Region region;
  RegionOptions options;
  size_t chosen = 0;
  /// See Step::why.
  std::string why = {};

  const Option& option() const { return options.options[chosen]; }
};

/// What a caller may say while the choice is made.
struct SelectHooks {
  /// Takes options away from a region's; their times are known.
  std::function<void(const Region&, std::vector<Option>&)> filter;
  /// Told before each cluster of nodes that is looked at: how many are done, and how many there are.
  std::function<void(size_t done, size_t total)> progress;
  /// Regions that ran before with shapes that are near run in the same way, and nothing else is asked; null:
  /// nothing ran.
  const ChoiceMemory* memory = nullptr;
};

/// One choice for every region that runs, in an order in which they can. A measured candidate must be 3 %
/// faster than one before it in the fixed order (regions that fuse most first, then tactics.def) to be taken
/// instead, so that equal ones do not change places from build to build. Throws Error naming the node that
/// nothing can run.
std::vector<Choice> select(const Model& model, OptionMaker& maker, Costs& costs,
                           const SelectHooks& hooks = {});

}  // namespace assay::engine
