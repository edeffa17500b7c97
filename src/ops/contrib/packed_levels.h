// Small unsigned integers packed into bytes, low bits first.
#pragma once

#include <cstdint>

namespace assay {

/// The level number `i` of a row of bytes that holds levels of 2, 4 or 8 bits.
inline int packed_level(const uint8_t* row, int64_t i, int bits) {
  const int64_t per_byte = 8 / bits;
  return (row[i / per_byte] >> (i % per_byte * bits)) & ((1 << bits) - 1);
}

/// Bytes that hold `count` levels.
inline int64_t packed_bytes(int64_t count, int bits) { return (count * bits + 7) / 8; }

}  // namespace assay
