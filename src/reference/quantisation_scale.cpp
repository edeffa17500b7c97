#include "reference/quantisation_scale.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "graph/read.h"
#include "ops/eval_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Quantized values of a range measured from its end, by the zero point's type; 0 for wider ones.
double quantized_of(const Node& n, const std::vector<Tensor>& inputs) {
  const DType zero = inputs.size() > 2 && inputs[2].defined() ? inputs[2].dtype() : DType::kUndefined;
  const int64_t asked = int_attribute(n, "output_dtype", 0);
  const DType t = is_integer(zero) ? zero : asked != 0 ? static_cast<DType>(asked) : DType::kUInt8;
  return is_known_dtype(static_cast<int64_t>(t)) && is_integer(t) && bit_width(t) <= 16
             ? std::ldexp(1, bit_width(t))
             : 0;
}

/// One scale for all, or for each index of the axis, so that it broadcasts over x; nothing for blockwise
/// scales.
Tensor broadcast_scale(const Node& n, const Shape& x, const Tensor& scale) {
  if (scale.numel() == 1) return scale.reshaped({});
  const auto rank = static_cast<int>(x.size());
  if (scale.rank() != 1 || rank == 0) return {};
  const int axis = normalize_axis(int_attribute(n, "axis", 1), rank);
  if (scale.numel() != x[static_cast<size_t>(axis)]) return {};
  std::vector<int64_t> extents(static_cast<size_t>(rank - axis), 1);
  extents[0] = scale.numel();
  return scale.reshaped(Shape(extents));
}

}  // namespace

int quantisation_scale_input(const Node& n, const OpFacts& facts) {
  const int input = facts.quantizing_scale;
  return input < 0 || static_cast<size_t>(input) >= n.inputs().size() ? -1 : input;
}

std::vector<Tensor> with_moved_quotient(const Node& n, const OpFacts& facts, std::vector<Tensor> inputs,
                                        double side, double u) {
  Tensor& scale = inputs[static_cast<size_t>(quantisation_scale_input(n, facts))];
  if (!scale.defined() || !is_float(scale.dtype())) return inputs;
  const Tensor wide = to_float64(scale);
  if (const double levels = quantized_of(n, inputs);
      n.op_type == "QuantizeLinear" && levels > 0 && inputs[0].defined() && is_float(inputs[0].dtype())) {
    if (const Tensor steps = broadcast_scale(n, inputs[0].shape(), wide); steps.defined())
      inputs[0] = map_broadcast<double>(
          to_float64(inputs[0]), steps,
          [move = side * kScaleUlps * unit_roundoff(DType::kFloat32) * levels](double x, double s) {
            return x == 0 || !std::isfinite(x) ? x : x - std::copysign(1.0, x) * move * s;
          });
  }
  scale = map_elements<double>(wide, [factor = 1 + side * kScaleUlps * u](double x) { return x * factor; });
  return inputs;
}

Tensor dequantised_step(const Node& n, const Tensor& scale, const Shape& shape) {
  if (n.op_type != "DequantizeLinear" || !scale.defined() || !is_float(scale.dtype())) return {};
  return broadcast_scale(n, shape, to_float64(scale));
}

}  // namespace assay
