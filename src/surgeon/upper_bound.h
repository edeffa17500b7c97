// Bounds for values that decide how large tensors become.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Bounds to set, by tensor; the name "" stands for every tensor of unbounded_dds_tensors().
using UpperBounds = std::vector<std::pair<std::string, int64_t>>;

/// Puts a Min(`<t>_copy`, `<t>_upper_bound`) in front of all uses of a tensor t, so that shapes that depend
/// on its values have a bound. Returns what was set. Logs a warning for a named tensor that decides no shape.
/// Throws Error (kNotFound) for one that does not exist.
UpperBounds set_upper_bounds(Model& model, const UpperBounds& bounds);

}  // namespace assay
