// Products of 8-bit integers with exact sums: division, packing and computation.
// The operands are those of Q/DQ networks (int8_product.h) or of ConvInteger and MatMulInteger
// (integer_product.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/tactics/product/tiled_product_kernel.h"
#include "kernels/int8/int8_conv.h"
#include "kernels/int8/int8_product.h"

namespace assay::engine {

/// The first inputs of all steps: quantized values, and the right operand in the kernels' packing.
enum Int8Input : size_t { kInt8Left, kInt8Right, kInt8Inputs = 4 };

/// Scratch memory of a product, and of a convolution.
int64_t int8_scratch(const ProductSize& size, int threads);

int64_t int8_scratch(const ConvProduct& conv, int threads);

/// The reason why the kernels' sums would overflow, or nothing.
std::string int8_sum_refusal(const ProductSize& size, bool is_depthwise);

/// The quantized values of input 0: their type, and their zero point, an operand if `input` is not 0.
struct Int8Quantized {
  bool is_signed = false;
  int zero_point = 0;
  size_t input = 0;

  int zero(const KernelArgs& args) const noexcept;
};

/// Converts exact sums to elements of the result.
class SumsEnd {
 public:
  virtual ~SumsEnd() = default;
  /// True when kernels quantize the sums themselves, as in `levels()`; run() is then not called.
  virtual bool makes_quantized() const noexcept { return false; }
  virtual kernels::QuantizedEpilogue levels(const KernelArgs&, const TileEpilogue&,
                                            const TiledProduct::Tile&) const noexcept {
    return {};
  }
  /// Of a tile, whose sums are overwritten.
  virtual void run(const KernelArgs& args, const TileEpilogue& finish,
                   const TiledProduct::Tile& tile) const noexcept = 0;
};

/// The kernel of a step whose input 0 has quantized rows. Throws Error (kInvalidModel) where inputs 0 and 1
/// or the result do not fit, as the next one.
std::unique_ptr<Kernel> int8_matmul_kernel(const StepReader& r, const ProductSize& size,
                                           const Int8Quantized& levels, std::unique_ptr<SumsEnd> end);

/// Of a step whose input 0 are images with channels last.
std::unique_ptr<Kernel> int8_conv_kernel(const StepReader& r, ConvProduct conv, const Int8Quantized& levels,
                                         std::unique_ptr<SumsEnd> end);

}  // namespace assay::engine
