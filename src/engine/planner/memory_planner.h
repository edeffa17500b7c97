// Places in the arena: which values share memory, and where it lies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/plan.h"

namespace assay::engine {

/// A block of memory that is in use from step `first` to step `last`, both included.
struct Buffer {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

/// Offsets such that buffers in use at the same time do not overlap, each a multiple of kAlignment: the
/// largest first, each at the lowest place that is free during its life (Pisarchyk and Lee, "Efficient Memory
/// Management for Deep Neural Net Inference", 2020); where there are thousands, each when its life begins, in
/// the smallest place that is free. `total` receives the end of the last one.
std::vector<int64_t> assign_offsets(std::span<const Buffer> buffers, int64_t& total);

/// A value that lies inside another one.
struct ValueAlias {
  int32_t of = -1;  ///< -1: none
  int64_t offset = 0;
};

/// A plan whose values have no places yet. Storage is kArena, kTensor, kConstant (slot set) or kInput (slot
/// set); aliases has one entry per value.
struct LoweredPlan {
  Plan plan;
  std::vector<ValueAlias> aliases;
};

/// Decides where outputs are computed: in the memory given for them, or elsewhere with a copy step.
void resolve_outputs(LoweredPlan& lowered);

/// Lets values share memory where the steps allow it (in place, concatenation without copies) and gives every
/// value and every scratch block its place.
void place_values(LoweredPlan& lowered);

}  // namespace assay::engine
