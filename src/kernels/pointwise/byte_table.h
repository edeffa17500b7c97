// Functions of 8-bit values by a table of their 256 results.
#pragma once

#include <array>
#include <cstdint>

namespace assay::kernels {

/// By the bits of the value.
using ByteTable = std::array<uint8_t, 256>;

/// y[i] = table[x[i]]. `y` may be the memory of x.
void look_up(const ByteTable& table, const uint8_t* x, int64_t count, uint8_t* y) noexcept;

/// The same without instructions that only some processors of an architecture have a kernel of their own for.
void look_up_common(const ByteTable& table, const uint8_t* x, int64_t count, uint8_t* y) noexcept;

}  // namespace assay::kernels
