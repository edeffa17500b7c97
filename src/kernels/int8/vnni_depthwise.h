// Depthwise windows in 8 bits: one instruction multiplies four taps of a channel.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_images.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Channels whose taps are stored together.
inline constexpr int64_t kVnniChannels = 64;

/// Which taps a group of four has.
enum class VnniTaps : uint8_t {
  kInOrder,  ///< four that follow each other
  /// A column of three: those at one place along the last axis, so that the next position finds two of its
  /// three columns in registers.
  kColumns,
};

/// Windows of three rows and three adjacent columns are taken by columns.
constexpr VnniTaps vnni_taps_of(int64_t taps, int64_t columns, int64_t dilation) {
  return taps == 9 && columns == 3 && dilation == 1 ? VnniTaps::kColumns : VnniTaps::kInOrder;
}

/// Puts taps [taps, channels] of numbers that fit in 8 bits into groups of four, padded with zeros: for each
/// group and each kVnniChannels channels, the four of every channel in the order in which vectors of pixels
/// are interleaved.
void pack_vnni_taps(const int16_t* numbers, int64_t taps, int64_t channels, VnniTaps order,
                    int8_t* packed) noexcept;
constexpr int64_t vnni_taps_bytes(int64_t taps, int64_t channels) {
  return (taps + 3) / 4 * 4 * ((channels + kVnniChannels - 1) / kVnniChannels * kVnniChannels);
}

/// int8_depthwise() of such taps, whose sums over the window are `tap_sums` [channels, padded to
/// kVnniChannels]. On x86-64 only, on a processor with AVX-512 VNNI (native_kernels.h).
void vnni_depthwise(const Int8Images& images, const void* x, const int8_t* packed, const int32_t* tap_sums,
                    int64_t first, int64_t count, int32_t* sums) noexcept;

/// requantize() of vnni_depthwise(). False where it cannot be computed so; some of the result may be written
/// then.
bool vnni_depthwise_quantized(const Int8Images& images, const void* x, const int8_t* packed,
                              const int32_t* tap_sums, int64_t first, int64_t count,
                              const QuantizedEpilogue& end) noexcept;

}  // namespace assay::kernels
