// Parts of tensors.
#pragma once

#include "assay/unaligned_tensor.h"

namespace assay {

/// The elements with `begin` <= index < `end` along an axis. Elements of fewer than 8 bits stay packed. Where
/// the part is contiguous it is a view that keeps the tensor's storage alive. Throws Error (kUnsupported) for
/// strings and containers, (kInternal) for an axis or indices outside.
UnalignedTensor slice_along(const UnalignedTensor& t, size_t axis, int64_t begin, int64_t end);

}  // namespace assay
