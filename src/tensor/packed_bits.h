// Elements of fewer than 8 bits (ONNX's raw_data): one after the other in a stream of bits, low bits first,
// the last byte padded with zeros. Elements of 2 and 4 bits stay within a byte, four of 6 bits share three
// bytes.
#pragma once

#include <cstdint>
#include <span>

#include "assay/dtype.h"

namespace assay {

/// Where a list holds one number per byte of a packed type (TensorProto.int32_data, ONNX's text form), it
/// holds one per element of a type whose elements span bytes.
inline bool spans_bytes(DType t) { return bit_width(t) == 6; }

/// A multiple of this many elements ends at the end of a byte, whatever their width.
inline constexpr int64_t kPackedGroup = 8;

/// Elements [first, first + out.size()) of the stream, each in the low bits of a byte. `bits`: 2, 4 or 6.
void unpack_bits(const uint8_t* stream, int64_t first, int bits, std::span<uint8_t> out);

/// Writes the low bits of each code to a stream, from a byte's start.
void pack_bits(std::span<const uint8_t> codes, int bits, uint8_t* stream);

}  // namespace assay
