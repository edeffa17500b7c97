// Small unsigned integers packed into bytes, low bits first.
#pragma once

#include <cstdint>

namespace assay {

/// Value number `i` of a row of bytes that holds values of 2, 4 or 8 bits.
inline int packed_level(const uint8_t* row, int64_t i, int bits) {
  return (row[i * bits >> 3] >> (i * bits & 7)) & ((1 << bits) - 1);
}

/// Bytes that hold `count` values.
inline int64_t packed_bytes(int64_t count, int bits) { return (count * bits + 7) / 8; }

}  // namespace assay
