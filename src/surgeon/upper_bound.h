// Bounds of values that determine the size of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Bounds to set, by tensor; the name "" means every tensor of unbounded_dds_tensors().
using UpperBounds = std::vector<std::pair<std::string, int64_t>>;

/// Inserts a Min(`<t>_copy`, `<t>_upper_bound`) before all uses of a tensor t, so that shapes that depend on
/// its values are bounded. Returns the bounds set. Logs a warning for a named tensor that determines no
/// shape. Throws Error (kNotFound) for one that does not exist.
UpperBounds set_upper_bounds(Model& model, const UpperBounds& bounds);

}  // namespace assay
