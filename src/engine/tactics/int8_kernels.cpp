#include "engine/tactics/int8_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay::engine {

Tensor pack_int8_conv(const ConvProduct& conv, const std::vector<int16_t>& numbers) {
  const ProductSize& size = conv.size;
  const int64_t taps = conv.window.taps();
  if (conv.is_depthwise) {
    std::vector<int16_t> moved(numbers.size());
    for (int64_t c = 0; c < size.n; ++c)
      for (int64_t t = 0; t < taps; ++t)
        moved[static_cast<size_t>(t * size.n + c)] = numbers[static_cast<size_t>(c * taps + t)];
    const auto weights = kernels::DepthwiseWeights::of(conv.window, size.n);
    Tensor packed = Tensor::allocate(DType::kUInt8, Shape{weights.bytes()});
    kernels::pack_int8_depthwise(weights, moved.data(), packed.mutable_data<uint8_t>());
    return packed;
  }
  const kernels::Int8Weights weights{size.n / conv.groups, size.k};
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{conv.groups * weights.bytes()});
  const std::vector<int16_t> moved = taps_first(numbers.data(), size.n, size.k / taps, taps);
  for (int64_t g = 0; g < conv.groups; ++g)
    kernels::pack_int8_weights(weights, moved.data() + g * weights.n * size.k, 1, size.k,
                               packed.mutable_data<uint8_t>() + g * weights.bytes());
  return packed;
}

std::string_view int8_conv_way(const ConvProduct& conv) {
  if (conv.is_depthwise) return "depthwise";
  return conv.groups > 1 ? "groups" : "products";
}

double int8_efficiency(bool is_depthwise) {
  if (kernels::has_int8_instructions()) return is_depthwise ? 1 : 3.2;
  return is_depthwise ? 0.2 : 2;
}

void write_int8_conv(const Problem& p, const ConvProduct& conv, Candidate& b) {
  const ProductSize& size = conv.size;
  b.write(conv_fields(conv));
  b.step.scratch_bytes = int8_scratch(conv, p.config().threads);
  b.estimate = estimate_seconds(
      2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k),
      static_cast<double>(size.n * size.k), int8_efficiency(conv.is_depthwise));
}

std::string int8_conv_packing(const ConvProduct& conv) {
  const int64_t taps = conv.window.taps();
  if (conv.is_depthwise) {
    const kernels::Window& w = conv.window;
    return fmt::format("int8 {} taps first in rows of {}, {} apart, numbers and fours", taps,
                       w.kernel[w.rank() - 1], w.dilations[w.rank() - 1]);
  }
  return fmt::format("int8 {} groups of {} x {} taps in panels of {}, fours together", conv.groups,
                     conv.size.k / taps, taps, kernels::kInt8Columns);
}

}  // namespace assay::engine
