// Copies a grid of elements: shared by Pad and nearest-neighbour Resize.
#pragma once

#include <vector>

#include "assay/tensor.h"

namespace assay {

/// In an index table: an element that is not in the source.
inline constexpr int64_t kOutside = -1;

/// out[i, j, ...] = src[tables[0][i], tables[1][j], ...]; where a table says kOutside, the single element of
/// `fill`, which may be undefined when no table does. One table for each dimension; any element type. Throws
/// Error (kInvalidModel) when the result is larger than checked_allocation allows.
Tensor copy_grid(const Tensor& src, const std::vector<std::vector<int64_t>>& tables, const Tensor& fill = {});

}  // namespace assay
