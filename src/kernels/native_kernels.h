// Kernels that are written for one architecture, next to the vector kernels that Highway compiles for each.
#pragma once

#include "kernels/int8/int8_product.h"
#include "kernels/int8/vnni_depthwise.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels {

/// Null: this architecture has none, or this processor lacks the instructions.
struct NativeKernels {
  /// Bitwise equal to the functions of these names.
  decltype(&kernels::int8_product) int8_product = nullptr;
  decltype(&kernels::int8_product_quantized) int8_product_quantized = nullptr;
  /// Of taps in groups of four (pack_vnni_taps).
  decltype(&kernels::vnni_depthwise) depthwise = nullptr;
  decltype(&kernels::vnni_depthwise_quantized) depthwise_quantized = nullptr;
  decltype(&kernels::bfloat16_product) bfloat16_product = nullptr;
};

/// Those of this processor. Each architecture that has some defines it in native_kernels_ARCHITECTURE.cpp.
const NativeKernels& native_kernels() noexcept;

}  // namespace assay::kernels
