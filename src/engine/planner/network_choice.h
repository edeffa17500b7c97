// Chooses a network's candidates by runs of the whole network.
#pragma once

#include <vector>

#include "engine/planner/lowering.h"
#include "engine/planner/measured_costs.h"
#include "engine/planner/selector.h"

namespace assay::engine {

/// A choice, with constants already created for it.
struct NetworkChoice {
  std::vector<Choice> choices;
  /// Keeps packed weights until the choice is lowered; null if nothing was run.
  std::shared_ptr<const Plan> rehearsed;
};

/// Resources and limits of the runs.
struct NetworkTrial {
  const Target& target;
  TimingCache& cache;
  ConstantCache& constants;
  std::shared_ptr<ThreadPool> pool;
  TimingOptions timing;
  const TacticSet& tactics;
  int threads = 1;
};

/// select() by measured costs. A candidate that is measured alone has its inputs in the caches and its
/// weights in memory, which holds to a varying degree within a network; so the choice by measurement, the one
/// by estimates, and those that follow from the steps' times in these networks run alternately as whole
/// networks, and the fastest is chosen. Times are added to the timing cache: with a complete one the choice
/// is reproducible. If TimingOptions::seconds_per_network is 0, or if measuring is not allowed and the cache
/// lacks these networks (it is another build's, or the caller now constrains the choice), it is just
/// select().
NetworkChoice choose_in_network(Model& model, OptionMaker& maker, MeasuredCosts& costs,
                                const SelectHooks& hooks, const NetworkTrial& trial);

}  // namespace assay::engine
