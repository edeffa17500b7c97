// Plans the arena: sharing and offsets of values.
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
/// largest first, each at the lowest offset that is free during its lifetime (Pisarchyk and Lee, "Efficient
/// Memory Management for Deep Neural Net Inference", 2020); for thousands of them, each at the beginning of
/// its lifetime, in the smallest free gap. `total` receives the end of the last one.
std::vector<int64_t> assign_offsets(std::span<const Buffer> buffers, int64_t& total);

/// A value that is part of another one's memory.
struct ValueAlias {
  int32_t of = -1;  ///< -1: none
  int64_t offset = 0;
};

/// A plan whose values have no memory yet. Storage is kArena, kTensor, kConstant (slot set) or kInput (slot
/// set); aliases has one entry per value.
struct LoweredPlan {
  Plan plan;
  std::vector<ValueAlias> aliases;
};

/// Decides whether outputs are computed in the memory given for them, or elsewhere with a copy step.
void resolve_outputs(LoweredPlan& lowered);

/// Lets values share memory if the steps allow it (in place, concatenation without copies) and assigns
/// offsets to all values and scratch blocks.
void place_values(LoweredPlan& lowered);

}  // namespace assay::engine
