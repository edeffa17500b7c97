// MaxPool of any element type, with the places of the maxima where they are wanted.
#pragma once

#include <cstdint>

#include "kernels/conv.h"
#include "kernels/number_type.h"

namespace assay::kernels {

/// y [planes, out...] = the largest element of each window of x [planes, in...]; NaN wins. `places`, null or
/// of y's shape: its position in the whole input, the first of equal ones and the last NaN, counted in a
/// plane in row-major order or, with `by_columns`, with the first axis fastest. An empty window gives the
/// lowest number (minus infinity) and the plane's first position. A plane has fewer than 2^31 elements.
void max_pool(const Window& window, DType type, int64_t planes, const void* x, void* y, int64_t* places,
              bool by_columns) noexcept;

}  // namespace assay::kernels
