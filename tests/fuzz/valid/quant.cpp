// Quantized operators. Scales are powers of two and most values multiples of them, so that every rounding is
// decided by the specification and not by the order of operations.
#include <algorithm>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

Tensor scales(Draft& d, DType dtype, const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat64, shape);
  for (double& x : t.mutable_span<double>()) x = d.r.one_of({0.25, 0.5, 1.0, 2.0});
  return convert(t, dtype);
}

Tensor quantised(Draft& d, DType dtype, const Shape& shape) {
  return is_float(dtype) ? d.values(dtype, shape, -3, 3) : d.integers(dtype, shape, -100, 100);
}

}  // namespace

/// QuantizeLinear and DequantizeLinear: per tensor, per axis and blocked.
void make_quantize(Draft& d) {
  const bool to = d.is("QuantizeLinear");
  const Shape s = d.positive_shape(1, 4);
  const std::string scale = to ? "y_scale" : "x_scale", zero = to ? "y_zero_point" : "x_zero_point";
  Shape shape;
  if (d.since >= 13 && d.r.chance(50)) {
    const int64_t axis = d.r.between(0, s.rank() - 1);
    d.attr("axis", d.r.chance(30) ? axis - s.rank() : axis);
    shape = {s[static_cast<size_t>(axis)]};
    if (d.has_attr("block_size") && d.r.chance(40)) {
      const int64_t block = d.r.between(1, s[static_cast<size_t>(axis)]);
      shape = s;
      shape[static_cast<size_t>(axis)] = (s[static_cast<size_t>(axis)] + block - 1) / block;
      d.attr("block_size", block);
    }
  }
  if (to) {
    d.input("x", s, -20, 20);
  } else {
    d.input("x", quantised(d, d.input_dtype("x"), s));
  }
  d.input(scale, scales(d, d.input_dtype(scale), shape));
  const DType stored = d.input_dtype(zero);
  const bool wide = stored == DType::kInt32 || is_float(stored);
  if (d.r.chance(70) || (to && stored != DType::kUInt8))
    d.input(zero, wide ? Tensor::zeros(stored, shape) : d.integers(stored, shape, 0, 5));
  if (to) d.flag("saturate");
}

void make_dynamic_quantize(Draft& d) { d.input("x", d.positive_shape(1, 3)); }

void make_matmul_integer(Draft& d) {
  const int64_t k = d.positive(5), m = d.positive(), n = d.positive();
  Shape batch = d.positive_shape(0, 1), a = batch, b = d.r.chance(50) ? batch : Shape{};
  a.push_back(m);
  a.push_back(k);
  b.push_back(k);
  b.push_back(n);
  d.input("A", quantised(d, d.input_dtype("A"), a));
  d.input("B", quantised(d, d.input_dtype("B"), b));
  d.maybe_input("a_zero_point", {}, 60, 0, 9);
  d.maybe_input("b_zero_point", d.r.chance(60) || b.rank() > 2 ? Shape{} : Shape{n}, 60, 0, 9);
}

void make_qlinear_matmul(Draft& d) {
  const int64_t k = d.positive(5), m = d.positive(), n = d.positive();
  const Shape batch = d.positive_shape(0, 1);
  Shape a = batch, b = batch;
  a.push_back(m);
  a.push_back(k);
  b.push_back(k);
  b.push_back(n);
  const bool columns = b.rank() == 2 && d.r.chance(40);
  const Shape per_column = columns ? Shape{n} : Shape{};
  d.input("a", quantised(d, d.input_dtype("a"), a));
  d.input("b", quantised(d, d.input_dtype("b"), b));
  for (const char* name : {"a_scale", "y_scale"}) d.input(name, scales(d, d.input_dtype(name), {}));
  d.input("b_scale", scales(d, d.input_dtype("b_scale"), per_column));
  d.input("a_zero_point", d.integers(d.input_dtype("a_zero_point"), {}, 0, 9));
  d.input("b_zero_point", d.integers(d.input_dtype("b_zero_point"), per_column, 0, 9));
  d.input("y_zero_point", d.integers(d.input_dtype("y_zero_point"), {}, 0, 9));
}

void make_qlinear_conv(Draft& d) {
  const int64_t group = d.r.between(1, 2), c = group * d.positive(2), m = group * d.positive(2),
                k = d.positive(3);
  const int64_t side = k + d.r.between(0, 4);
  d.input("x", quantised(d, d.input_dtype("x"), {d.positive(2), c, side, side}));
  d.input("w", quantised(d, d.input_dtype("w"), {m, c / group, k, k}));
  const Shape per_channel = d.r.chance(40) ? Shape{m} : Shape{};
  for (const char* name : {"x_scale", "y_scale"}) d.input(name, scales(d, DType::kFloat32, {}));
  d.input("w_scale", scales(d, DType::kFloat32, per_channel));
  d.input("x_zero_point", d.integers(d.input_dtype("x_zero_point"), {}, 0, 9));
  d.input("w_zero_point", Tensor::zeros(d.input_dtype("w_zero_point"), per_channel));
  d.input("y_zero_point", d.integers(d.input_dtype("y_zero_point"), {}, 0, 9));
  if (d.r.chance(50)) d.input("B", d.integers(DType::kInt32, {m}, -50, 50));
  if (group > 1) d.attr("group", group);
  const int64_t pad = d.r.between(0, k - 1);
  d.attr("pads", std::vector<int64_t>{pad, 0, 0, pad});
  d.attr("strides", std::vector<int64_t>{d.r.between(1, 2), d.r.between(1, 2)});
}

}  // namespace assay::fuzz
