#include "ops/contrib/quantized.h"

#include <cmath>

#include "ops/eval_util.h"
#include "ops/numerics/noise.h"
#include "ops/quant/integer_operands.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay {

double zero_point_or_0(const EvalContext& c, size_t i) {
  return i < c.input_count() && c.has_input(i) ? scalar_parameter(c, i) : 0;
}

Tensor dequantized(const EvalContext& c, const QuantizedInput& in) {
  const double scale = scalar_parameter(c, in.scale), zero = zero_point_or_0(c, in.zero);
  return map_elements<double>(to_float64(c.input(in.levels)), [=](double x) { return (x - zero) * scale; });
}

void check_quantized(const InferContext& c, const QuantizedInput& in) {
  for (const size_t i : {in.scale, in.zero}) {
    if (i >= c.input_count() || !c.has_input(i)) continue;
    const Dims* dims = c.input_dims(i);
    const std::optional<Shape> shape = dims != nullptr ? known_shape(*dims) : std::nullopt;
    c.check(!shape || shape->numel() == 1, "input {} has shape {} where a scalar is needed", i,
            shape ? shape->str() : "?");
  }
}

double largest_operand(const EvalContext& c, const QuantizedInput& in) {
  constexpr double kQuantized = 255;
  return kQuantized * std::fabs(scalar_parameter(c, in.scale));
}

Requantizer::Requantizer(const EvalContext& c, size_t scale, size_t zero, DType to, double u, uint64_t key)
    : scale_(scalar_parameter(c, scale)), zero_(zero_point_or_0(c, zero)), to_(to), u_(u), key_(key) {}

Tensor Requantizer::operator()(const Tensor& real, double size, double roundings) const {
  Tensor levels = Tensor::allocate(DType::kFloat64, real.shape());
  const double* from = real.data<double>();
  double* to = levels.mutable_data<double>();
  const double spread = u_ * roundings * size / std::fabs(scale_);
  parallel_for(real.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const double error = u_ > 0 ? spread * noise(key_, static_cast<uint64_t>(i)) : 0;
      to[i] = level_of(from[i] / scale_ + error, zero_, to_);
    }
  });
  return store_quantized(levels, to_);
}

}  // namespace assay
