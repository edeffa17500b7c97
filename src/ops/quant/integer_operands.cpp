#include "ops/quant/integer_operands.h"

#include "ops/eval_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

Tensor subtract(const Tensor& a, const Tensor& b) {
  return map_broadcast<double>(a, b, [](double x, double z) { return x - z; });
}

bool is_defined(const EvalContext& c, size_t i) { return i < c.inputs().size() && c.input(i).defined(); }

}  // namespace

Tensor matrix_parameter(const EvalContext& c, size_t i, size_t z, bool by_column) {
  const Shape& matrices = c.shape(i);
  Tensor p = to_float64(c.input(z));
  if (p.numel() == 1) return p.reshaped({});
  if (p.rank() == 1 && matrices.size() >= 2)
    p = p.reshaped(by_column ? Shape{1, p.numel()} : Shape{p.numel(), 1});
  c.check(broadcast(p.shape(), matrices) == matrices,
          "input {} of shape {} does not suit matrices of shape {}", z, c.shape(z).str(), matrices.str());
  return p;
}

Tensor quantized_matrix(const EvalContext& c, size_t i, size_t z, bool by_column) {
  Tensor levels = to_float64(c.input(i));
  return is_defined(c, z) ? subtract(levels, matrix_parameter(c, i, z, by_column)) : levels;
}

Tensor quantized_data(const EvalContext& c, size_t i, size_t z) {
  Tensor levels = to_float64(c.input(i));
  return is_defined(c, z) ? subtract(levels, Tensor::scalar(scalar_parameter(c, z))) : levels;
}

Tensor quantized_weights(const EvalContext& c, size_t i, size_t z) {
  Tensor levels = to_float64(c.input(i));
  if (!is_defined(c, z)) return levels;
  const Tensor zero = to_float64(c.input(z));
  if (zero.numel() == 1) return subtract(levels, zero.reshaped({}));
  c.check(zero.shape() == Shape{levels.dim(0)}, "input {} has shape {} for {} output channels", z,
          zero.shape().str(), levels.dim(0));
  Shape columns(std::vector<int64_t>(levels.shape().size(), 1));
  columns[0] = levels.dim(0);
  return subtract(levels, zero.reshaped(columns));
}

double scalar_parameter(const EvalContext& c, size_t i) {
  c.check(c.input(i).numel() == 1, "input {} has shape {} where a scalar is needed", i, c.shape(i).str());
  return to_float64(c.input(i)).data<double>()[0];
}

Tensor to_int32(const Tensor& sums) {
  return map_elements<double, int32_t>(
      sums, [](double x) { return static_cast<int32_t>(static_cast<int64_t>(x)); });
}

}  // namespace assay
