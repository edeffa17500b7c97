// Shapes against declared ones.
#pragma once

#include <optional>

#include "assay/graph.h"

namespace assay {

/// Whether a tensor of this shape may stand where `dims` are declared: equal rank, and equal extents where
/// they are known.
bool shape_fits(const Shape& shape, const std::optional<Dims>& dims);

}  // namespace assay
