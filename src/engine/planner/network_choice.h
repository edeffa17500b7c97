// The choice of a network's candidates, judged by runs of the whole network.
#pragma once

#include <vector>

#include "engine/planner/lowering.h"
#include "engine/planner/measured_costs.h"
#include "engine/planner/selector.h"

namespace assay::engine {

/// A choice, and what was made for it already.
struct NetworkChoice {
  std::vector<Choice> choices;
  /// Keeps packed weights until the choice is lowered; null where nothing was run.
  std::shared_ptr<const Plan> rehearsed;
};

/// What the runs need, and how far they may go.
struct NetworkTrial {
  const Target& target;
  TimingCache& cache;
  ConstantCache& constants;
  std::shared_ptr<ThreadPool> pool;
  TimingOptions timing;
  const TacticSet& tactics;
  int threads = 1;
};

/// select() by measured costs. A candidate that is measured alone finds its inputs in the caches and its
/// weights out of them, which in the network is true to another degree for each; so the choice by
/// measurement, the one by estimates, and those that follow from the steps' times in these networks run in
/// turns as whole networks, and the fastest is taken. What was measured goes into the timing cache: with a
/// full one the choice is the same. Where TimingOptions::seconds_per_network is 0, or where nothing is to be
/// measured and the cache does not know these networks (it is another build's, or the caller now steers the
/// choice), it is select() alone.
NetworkChoice choose_in_network(Model& model, OptionMaker& maker, MeasuredCosts& costs,
                                const SelectHooks& hooks, const NetworkTrial& trial);

}  // namespace assay::engine
