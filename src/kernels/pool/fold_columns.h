// Blocks added at their positions in an image: Col2Im.
#pragma once

#include <cstdint>

#include "kernels/conv.h"
#include "kernels/number_type.h"

namespace assay::kernels {

/// image [planes, in...] = the sum of the blocks columns [planes, kernel..., out...], each at the position of
/// a window that slides over the image; elements in the padding are dropped. Integers wrap. w.rank() <=
/// kMaxWindowAxes.
void fold_columns(const Window& w, DType type, int64_t planes, const void* columns, void* image) noexcept;

}  // namespace assay::kernels
