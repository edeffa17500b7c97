#include "ops/quant/quantize.h"

#include <algorithm>
#include <cmath>

#include "ops/nn/window.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Lowest and highest quantized value.
struct QuantizedRange {
  double low, high;
};

QuantizedRange level_range(DType t) {
  const int bits = bit_width(t);
  return is_signed_integer(t) ? QuantizedRange{-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1}
                              : QuantizedRange{0, std::ldexp(1, bits) - 1};
}

int64_t attr_or(const OpContext& c, std::string_view name, int64_t otherwise) {
  return knows_attr(c, name) ? c.attr_int(name, otherwise) : otherwise;
}

}  // namespace

QuantGrid::QuantGrid(const OpContext& c, const Shape& data, const Shape& scale)
    : outer_(1), extent_(1), inner_(data.numel()) {
  if (scale.numel() == 1 && scale.rank() <= 1) return;
  const auto axis = static_cast<size_t>(normalize_axis(attr_or(c, "axis", 1), data.rank()));
  const int64_t block = attr_or(c, "block_size", 0);
  c.check(block >= 0, "attribute 'block_size' is {}; it must not be negative", block);
  outer_ = data.numel(0, axis);
  extent_ = data[axis];
  inner_ = data.numel(axis + 1, data.size());
  if (block == 0) {
    c.check(scale == Shape{extent_}, "a scale of shape {} does not suit axis {} of data of shape {}",
            scale.str(), axis, data.str());
    block_step_ = 1;
    return;
  }
  const int64_t blocks = extent_ / block + (extent_ % block != 0 ? 1 : 0);
  Shape blocked = data;
  blocked[axis] = blocks;
  c.check(scale == blocked,
          "a scale of shape {} does not suit blocks of {} along axis {} of data of shape {}", scale.str(),
          block, axis, data.str());
  block_ = block;
  outer_step_ = blocks * inner_;
  block_step_ = inner_;
  inner_step_ = 1;
}

void check_quant_shapes(const InferContext& c) {
  const Dims *data = c.input_dims(0), *scale = c.input_dims(1),
             *zero = c.has_input(2) ? c.input_dims(2) : nullptr;
  if (scale == nullptr) return;
  const std::optional<Shape> scale_shape = known_shape(*scale);
  if (zero != nullptr && scale_shape) {
    const std::optional<Shape> zero_shape = known_shape(*zero);
    if (zero_shape)
      c.check(*zero_shape == *scale_shape || (zero_shape->numel() == 1 && scale_shape->numel() == 1),
              "the zero point has shape {}, the scale {}", zero_shape->str(), scale_shape->str());
  }
  if (data == nullptr || !scale_shape) return;
  if (const std::optional<Shape> shape = known_shape(*data)) QuantGrid(c, *shape, *scale_shape);
}

bool is_quantized_integer(DType t) { return is_integer(t) && bit_width(t) <= 16; }

double level_of(double scaled, double zero_point, DType to) {
  if (!is_quantized_integer(to)) return scaled + zero_point;
  const QuantizedRange range = level_range(to);
  const double level = std::nearbyint(scaled) + zero_point;
  return std::isnan(level) ? range.low : std::clamp(level, range.low, range.high);
}

Tensor store_quantized(const Tensor& levels, DType to, bool saturate) {
  return convert(levels, to, saturate);
}

}  // namespace assay
