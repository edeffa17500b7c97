// Rows picked by index.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

/// out[o, i, :] = in[o, index[i], :] for in of [outer, extent, row_bytes]; a negative index counts from the
/// end. Returns false, with `out` partly written, when an index is out of range.
bool gather(const void* in, const int64_t* index, void* out, int64_t outer, int64_t extent, int64_t count,
            size_t row_bytes) noexcept;
bool gather(const void* in, const int32_t* index, void* out, int64_t outer, int64_t extent, int64_t count,
            size_t row_bytes) noexcept;

}  // namespace assay::kernels
