// Kernels that are written for one architecture, next to the vector kernels that Highway compiles for each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/int8/int8_images.h"
#include "kernels/int8/int8_operands.h"
#include "kernels/int8/requantize.h"
#include "kernels/panel/panel_matrix.h"

namespace assay::kernels {

struct NbitsWeights;  // kernels/nbits/nbits_product.h

// The signature of each kind of kernel: that of the function that it stands in for.
using Int8Product = void(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                         const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept;
using Int8ProductQuantized = void(const Int8Weights& weights, const void* packed, int64_t panel,
                                  int64_t columns, const Int8Rows& a, int64_t rows, int32_t* sums,
                                  int64_t stride, const QuantizedEpilogue& end) noexcept;
using VnniDepthwise = void(const Int8Images& images, const void* x, const int8_t* packed,
                           const int32_t* tap_sums, int64_t first, int64_t count, int32_t* sums) noexcept;
using VnniDepthwiseQuantized = bool(const Int8Images& images, const void* x, const int8_t* packed,
                                    const int32_t* tap_sums, int64_t first, int64_t count,
                                    const QuantizedEpilogue& end) noexcept;
using Bfloat16Product = void(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                             const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias,
                             float* sums, int64_t stride) noexcept;
using Bfloat16Rows = void(const float* from, uint16_t* to, size_t count) noexcept;
/// False where a row cannot be rounded: then y is not written.
using RoundedNbits = bool(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                          void* scratch) noexcept;
using ByteLookup = void(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) noexcept;

/// Null: this architecture has none, or this processor lacks the instructions.
struct NativeKernels {
  /// Bitwise equal to the functions of these names (int8_product.h).
  Int8Product* int8_product = nullptr;
  Int8ProductQuantized* int8_product_quantized = nullptr;
  /// Of taps in fours (vnni_depthwise.h).
  VnniDepthwise* depthwise = nullptr;
  VnniDepthwiseQuantized* depthwise_quantized = nullptr;
  /// Of panel_product.h.
  Bfloat16Product* bfloat16_product = nullptr;
  /// Of bfloat16_rows.h.
  Bfloat16Rows* bfloat16_rows = nullptr;
  /// Of rounded_nbits.h, for weights of at most so many bits.
  RoundedNbits* rounded_nbits = nullptr;
  int rounded_nbits_bits = 0;
  /// Of byte_table.h.
  ByteLookup* look_up = nullptr;
};

/// Those of this processor. Each architecture that has some defines it in native_kernels_ARCHITECTURE.cpp.
const NativeKernels& native_kernels() noexcept;

}  // namespace assay::kernels
