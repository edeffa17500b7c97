// What the tactics on 8-bit integers share: reading quantized operands, and the way from exact sums to the
// result. Numbers come from a DequantizeLinear, whose input is read instead; the weights are a constant
// behind another one.
#pragma once

#include <functional>
#include <optional>

#include "engine/tactics/tiled_product.h"
#include "kernels/int8/int8_product.h"

namespace assay::engine {

/// The cut of a product of integers.
ProductTiles int8_tiles(const ProductSize& size, int threads);

/// The operands of a product, as they are stored.
struct Int8Operands {
  Quantization x;
  const QuantizedConstant* weights = nullptr;
  /// Of the weights less their zero points: more than 8 bits are needed.
  bool wide = false;
};
/// `channel_axis`: of the weights, along which they may have scales of their own; `depth`: products in a sum.
/// Returns why not, or nothing.
std::string read_int8(const Problem& p, const Value* x, const Value* weights, size_t channel_axis,
                      int64_t depth, Int8Operands& operands);

/// Less their zero points, in their own order. The scale's axis is `axis` where there are several.
std::vector<int16_t> int8_numbers(const QuantizedConstant& weights);

/// Writes down a candidate: inputs 0 (`x` in `layout`), 1 (the packed weights), 2 (what sums are multiplied
/// by), 3 (bias; may be null) and the epilogue's operands, and the output in `layout`.
void write_int8(const Problem& p, const Int8Operands& operands, const Value* x, const Value* weights,
                const Value* bias, double bias_scale, const std::vector<EpilogueStep>& epilogue,
                int64_t columns, Layout layout, const std::string& packing, std::function<Tensor()> pack,
                Candidate& b);

/// A reader of a step that write_int8() wrote.
StepReader read_int8_step(const Plan& plan, const Step& step);
/// The quantization of input 0, from a step that write_int8() wrote. Throws Error (kInvalidModel) where it is
/// not one.
Quantization int8_input(const StepReader& r);

/// A product of which a step gives sums.
class Int8Sums : public TiledProduct {
 protected:
  Int8Sums(const StepReader& r, const ProductSize& size, const ProductTiles& tiles);
  /// From a tile's sums, which are overwritten, to elements of the result.
  void finish_sums(const KernelArgs& args, const Tile& tile) const noexcept;

 private:
  std::optional<kernels::Requantization> requantization_;
};

/// A product with packed weights whose left operand is gathered tile by tile.
class Int8Kernel final : public Int8Sums {
 public:
  /// Writes rows [first, first + count) of the left operand.
  using Gather = std::function<void(const void* x, int64_t first, int64_t count, int16_t* rows)>;
  Int8Kernel(const StepReader& r, const ProductSize& size, Gather gather);

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override;
  void compute(const KernelArgs& args, const Tile& tile) const noexcept override;

  kernels::Int8Weights weights_;
  Gather gather_;
};

}  // namespace assay::engine
