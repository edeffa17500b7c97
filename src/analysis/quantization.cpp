#include "analysis/quantization.h"

#include <cmath>

#include "analysis/match.h"

namespace assay {
namespace {

bool is_byte_type(DType t) { return t == DType::kUInt8 || t == DType::kInt8; }

/// Numbers, a scale of float32 and perhaps a zero point.
bool has_operands_of_quantization(const Node& n) {
  if (n.inputs().size() < 2 || n.inputs().size() > 3 || n.outputs().size() != 1) return false;
  return n.input(0) != nullptr && n.input(1) != nullptr && n.output(0) != nullptr &&
         dtype_of(n.input(1)) == DType::kFloat32;
}

}  // namespace

std::optional<Quantization> read_quantization(const Node& n) {
  const bool quantizes = is_op(n, "QuantizeLinear");
  if (!quantizes && !is_op(n, "DequantizeLinear")) return std::nullopt;
  if (!has_operands_of_quantization(n) || int_attribute(n, "block_size", 0) != 0) return std::nullopt;
  const Value *scale = n.input(1), *zero = n.input(2);
  const DType given = dtype_of(n.input(0)), made = dtype_of(n.output(0));
  const DType real = quantizes ? given : made, stored = quantizes ? made : given;
  if (real != DType::kFloat32 || !is_byte_type(stored)) return std::nullopt;
  const std::optional<double> s = scalar_of(scale);
  const std::optional<double> z = zero == nullptr ? std::optional(0.0) : scalar_of(zero);
  if (!s || !z || !std::isfinite(*s) || *s <= 0) return std::nullopt;
  return Quantization{static_cast<float>(*s), static_cast<int>(*z), stored};
}

size_t QuantizedConstant::scale_of(int64_t element) const {
  if (scale.size() == 1) return 0;
  const Shape& shape = stored.shape();
  const int64_t inner = shape.numel(axis + 1, shape.size()), extent = shape[axis];
  const int64_t at = element / inner % extent;
  if (block == 0) return static_cast<size_t>(at);
  const int64_t blocks = (extent + block - 1) / block;
  return static_cast<size_t>((element / (inner * extent) * blocks + at / block) * inner + element % inner);
}

Tensor QuantizedConstant::dequantized() const {
  const std::vector<int64_t> numbers = stored.to_int64();
  Tensor real = Tensor::allocate(DType::kFloat32, stored.shape());
  float* to = real.mutable_data<float>();
  const int64_t inner = stored.shape().numel(axis + 1, stored.rank());
  const auto* from = numbers.data();
  for (int64_t i = 0; i < stored.numel(); i += inner) {
    // Along what is inside, elements share a scale, or have those that follow.
    const size_t first = scale_of(i), step = scale.size() > 1 && block != 0 ? 1 : 0;
    for (size_t k = 0; k < static_cast<size_t>(inner); ++k)
      *to++ = static_cast<float>(*from++ - zero_point[first + k * step]) * scale[first + k * step];
  }
  return real;
}

namespace {

/// Reads which elements share a scale; false where there are not as many scales.
bool read_scales(const Node& n, const Shape& scale, QuantizedConstant& c) {
  if (scale.numel() == 1 && scale.rank() <= 1) return true;
  const Shape& x = c.stored.shape();
  const auto rank = static_cast<int64_t>(x.rank());
  int64_t axis = int_attribute(n, "axis", 1);
  axis += axis < 0 ? rank : 0;
  c.block = int_attribute(n, "block_size", 0);
  if (axis < 0 || axis >= rank || c.block < 0) return false;
  c.axis = static_cast<size_t>(axis);
  if (c.block == 0) return scale == Shape{x[c.axis]};
  Shape blocks = x;
  blocks[c.axis] = (x[c.axis] + c.block - 1) / c.block;
  return scale == blocks;
}

/// Whether a zero point is left out, or known and one for each scale.
bool zero_point_fits(const Node& n, const UnalignedTensor& x, const UnalignedTensor& scale) {
  if (n.input(2) == nullptr) return true;
  const UnalignedTensor* zero = data_of(n.input(2));
  return zero != nullptr && zero->dtype() == x.dtype() && zero->shape() == scale.shape();
}

bool is_stored_type(DType t) {
  const int bits = bit_width(t);
  return is_integer(t) && (bits == 2 || bits == 4 || bits == 8);
}

}  // namespace

std::optional<QuantizedConstant> quantized_constant(const Node& n) {
  if (!is_op(n, "DequantizeLinear") || n.inputs().size() < 2 || n.output(0) == nullptr) return std::nullopt;
  const UnalignedTensor *x = data_of(n.input(0)), *scale = data_of(n.input(1)), *zero = data_of(n.input(2));
  if (x == nullptr || scale == nullptr || scale->dtype() != DType::kFloat32 || x->numel() == 0 ||
      dtype_of(n.output(0)) != DType::kFloat32)
    return std::nullopt;
  if (!is_stored_type(x->dtype()) || x->rank() == 0 || !zero_point_fits(n, *x, *scale)) return std::nullopt;
  QuantizedConstant c{.stored = *x};
  if (!read_scales(n, scale->shape(), c)) return std::nullopt;
  const Tensor scales = scale->aligned();
  c.scale.assign(scales.data<float>(), scales.data<float>() + scales.numel());
  c.zero_point.assign(c.scale.size(), 0);
  if (zero != nullptr) {
    const std::vector<int64_t> numbers = zero->to_int64();
    c.zero_point.assign(numbers.begin(), numbers.end());
  }
  return c;
}

QuantizedConstants find_quantized_constants(const Graph& g) {
  QuantizedConstants found;
  for (const auto& n : g.nodes())
    if (auto c = quantized_constant(*n)) found.emplace(n->output(0)->name(), std::move(*c));
  return found;
}

std::optional<Quantization> quantization_of(const Value* v) {
  const Node* n = producer_of(v, "DequantizeLinear");
  return n == nullptr ? std::nullopt : read_quantization(*n);
}

}  // namespace assay
