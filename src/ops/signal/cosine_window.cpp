#include "ops/signal/cosine_window.h"

#include <cmath>

#include "ops/signal/scalars.h"
#include "tensor/convert.h"

namespace assay {

void infer_cosine_window(InferContext& c) { c.set_output(0, read_output_datatype(c), {scalar_extent(c, 0)}); }

void eval_cosine_window(EvalContext& c, const std::array<double, 3>& a) {
  const int64_t size = integer_scalar(c, 0, "size");
  c.check(size >= 0, "the size is {}; it must not be negative", size);
  const int64_t period = c.attr_int("periodic") != 0 ? size : size - 1;
  Tensor y = Tensor::allocate(DType::kFloat64, {size});
  double* py = y.mutable_data<double>();
  for (int64_t n = 0; n < size; ++n) {
    const double t = period == 0 ? 0 : 2 * M_PI * static_cast<double>(n) / static_cast<double>(period);
    py[n] = period == 0 ? 1 : a[0] - a[1] * std::cos(t) + a[2] * std::cos(2 * t);
  }
  const DType to = read_output_datatype(c);
  c.set_output(0, is_float(to) ? y : convert(y, to));
}

Tensor expected_cosine_window(EvalContext& c, double u, const Tensor& y, const std::array<double, 3>& a) {
  const int64_t size = y.numel(), period = c.attr_int("periodic") != 0 ? size : size - 1;
  const auto cosine = [](double weight, double t) {
    return std::abs(weight) * (std::sqrt(3.0) * t * std::abs(std::sin(t)) + 2);
  };
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  auto* e = out.mutable_data<double>();
  for (int64_t n = 0; n < size; ++n) {
    const double t = period == 0 ? 0 : 2 * M_PI * static_cast<double>(n) / static_cast<double>(period);
    e[n] = u * (std::abs(a[0]) + cosine(a[1], t) + cosine(a[2], 2 * t));
  }
  return out;
}

Tensor bound_cosine_window(EvalContext&, double u, size_t, const Tensor& y) {
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  for (double& e : out.mutable_span<double>()) e = 32 * u;
  return out;
}

}  // namespace assay
