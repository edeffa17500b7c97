// Explanations of indices that a kernel refused.
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/complaint.h"
#include "tensor/index_text.h"

namespace assay::engine {

/// The operators' sentence about the first of these indices that is not in [-extent, extent); empty when all
/// are.
template <typename Index>
std::string index_complaint(const void* indices, int64_t count, int64_t extent, size_t axis) {
  const auto* at = static_cast<const Index*>(indices);
  for (int64_t i = 0; i < count; ++i)
    if (at[i] < -extent || at[i] >= extent)
      return out_of_range_text(static_cast<int64_t>(at[i]), extent, axis);
  return {};
}

}  // namespace assay::engine
