#include "engine/tactics/product/int8_product.h"

#include <algorithm>
#include <limits>

#include "engine/tactics/pointwise/lookup_kernel.h"
#include "engine/tactics/pointwise/lookup_table.h"
#include "kernels/int8/requantize.h"

namespace assay::engine {

std::string read_int8(const Problem& p, const Value* x, const Value* weights, size_t channel_axis,
                      Int8Operands& operands) {
  const auto quantization = quantization_of(x);
  if (!quantization) return "the input does not come from a DequantizeLinear of 8 bits for the whole tensor";
  operands.x = *quantization;
  operands.weights = p.quantized_constant(weights);
  if (operands.weights == nullptr) return "the weights are not a constant behind a DequantizeLinear";
  const QuantizedConstant& w = *operands.weights;
  if (!w.is_of_bytes() || w.block != 0) return "the weights have fewer than 8 bits, or scales of blocks";
  if (w.scale.size() > 1 && w.axis != channel_axis)
    return "the weights have scales along another axis than the result's channels";
  return {};
}

std::vector<int16_t> int8_numbers(const QuantizedConstant& weights) {
  const std::vector<int64_t> stored = weights.stored.to_int64();
  std::vector<int16_t> numbers(stored.size());
  const auto count = static_cast<int64_t>(weights.scale.size());
  const int64_t inner =
      count == 1 ? 1 : weights.stored.shape().numel(weights.axis + 1, weights.stored.rank());
  for (size_t i = 0; i < stored.size(); ++i)
    numbers[i] =
        static_cast<int16_t>(stored[i] - weights.zero_point_at(static_cast<int64_t>(i) / inner % count));
  return numbers;
}

void write_int8(const Problem& p, const Int8Operands& operands, const Value* x, const Value* weights,
                const Value* bias, double bias_scale, const std::vector<EpilogueStep>& epilogue,
                int64_t columns, Layout layout, const std::string& packing, std::function<Tensor()> pack,
                Candidate& b) {
  const QuantizedConstant& w = *operands.weights;
  b.arithmetic = DType::kInt8;
  b.add_input(x, {layout, operands.x.dtype});
  b.add_constant(weights->name(), w.stored, packing, std::move(pack));
  b.add_constant(weights->name() + "/scale", w.stored,
                 fmt::format("scales of {} times {:a}", weights->name(), operands.x.scale),
                 [scales = w.scale, factor = operands.x.scale, columns] {
                   Tensor t = Tensor::allocate(DType::kFloat32, Shape{columns});
                   for (int64_t i = 0; i < columns; ++i)
                     t.mutable_data<float>()[i] =
                         factor * scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
                   return t;
                 });
  if (bias == nullptr)
    b.skip_input();
  else
    b.add_constant(bias->name(), bias->tensor(), fmt::format("x {}", bias_scale),
                   [source = bias->tensor(), bias_scale] {
                     Tensor t = source.aligned();
                     if (bias_scale == 1) return t;
                     for (float& v : t.mutable_span<float>()) v = static_cast<float>(v * bias_scale);
                     return t;
                   });
  b.add_output(p.region().output(), layout);
  b.write(Int8Fields{.x_scale = operands.x.scale, .x_zero_point = operands.x.zero_point});
  write_tile_epilogue(p, epilogue, layout, b);
  if (p.region().lookup != nullptr)
    b.write(ResultTable{.table = entries_of(lookup_table(*p.region().lookup, p.model()))});
}

}  // namespace assay::engine
