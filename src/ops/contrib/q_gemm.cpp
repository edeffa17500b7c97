// QGemm: Y = alpha * (A' * B' + C) * a_scale * b_scale, with quantized A' and B' less their zero points and
// integers C at the scale of the product; with y_scale quantized, else in float. B may have a scale and a
// zero point per column.
#include "kernels/gemm.h"

#include <algorithm>
#include <cmath>

#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "tensor/convert.h"

namespace assay::op_ms_QGemm {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kC, kYScale, kYZero };

bool transposed(const OpContext& c, size_t i) { return c.attr_int(i == kA ? "transA" : "transB") != 0; }
bool is_quantized(const OpContext& c) { return c.has_input(kYScale); }

void infer(InferContext& c) {
  check_quantized(c, {kA, kAScale, kAZero});
  check_quantized(c, {kA, kYScale, kYZero});
  c.check(c.has_input(kYScale) == c.has_input(kYZero), "y_scale and y_zero_point must be given together");
  Dim extents[2][2];
  for (const size_t i : {size_t{kA}, size_t{kB}}) {
    const Dims* dims = c.input_dims(i);
    if (dims == nullptr) continue;
    c.check(dims->size() == 2, "input {} has {} dimensions where 2 are needed", i, dims->size());
    for (size_t d = 0; d < 2; ++d) extents[i == kB][d] = (*dims)[transposed(c, i) ? 1 - d : d];
  }
  const Dim &k = extents[0][1], &other = extents[1][0];
  c.check(!k.is_known() || !other.is_known() || k.value() == other.value(),
          "the inner extents {} and {} differ", k.str(), other.str());
  const Dims product = {extents[0][0], extents[1][1]};
  if (const Dims* add = c.has_input(kC) ? c.input_dims(kC) : nullptr) {
    c.check(add->size() <= 2, "input C has {} dimensions where at most 2 are allowed", add->size());
    broadcast_dims(product, *add);
  }
  c.set_output(0, is_quantized(c) ? c.input_dtype(kYZero) : DType::kFloat32, product);
}

/// A parameter of B: one number, or one per column.
Tensor column_parameter(const EvalContext& c, size_t i, int64_t columns) {
  const Tensor p = to_float64(c.input(i));
  c.check(p.numel() == 1 || p.shape() == Shape{columns}, "input {} has shape {} for {} columns", i,
          p.shape().str(), columns);
  return p.numel() == 1 ? p.reshaped({}) : p;
}

/// A' * B' + C, exact.
Tensor sums(const EvalContext& c) {
  const Shape &a = c.shape(kA), &b = c.shape(kB);
  c.check(a.size() == 2 && b.size() == 2, "A and B must have 2 dimensions, found {} and {}", a.str(),
          b.str());
  const bool trans_a = transposed(c, kA), trans_b = transposed(c, kB);
  const int64_t m = a[trans_a ? 1 : 0], k = a[trans_a ? 0 : 1], n = b[trans_b ? 0 : 1];
  c.check(b[trans_b ? 1 : 0] == k, "the inner extents of {} and {} differ", a.str(), b.str());
  const auto minus = [](double x, double z) { return x - z; };
  const Tensor zeros = column_parameter(c, kBZero, n);
  const Tensor left = quantized_data(c, kA, kAZero);
  const Tensor right = map_broadcast<double>(
      to_float64(c.input(kB)), trans_b && zeros.rank() == 1 ? zeros.reshaped({n, 1}) : zeros, minus);
  Tensor y = Tensor::allocate(DType::kFloat64, {m, n});
  const auto view = [](const Tensor& t, bool turn) {
    return turn ? kernels::MatrixView{t.data<double>(), 1, t.dim(1)}
                : kernels::MatrixView{t.data<double>(), t.dim(1), 1};
  };
  kernels::gemm(m, n, k, view(left, trans_a), view(right, trans_b), y.mutable_data<double>(), n);
  if (!c.has_input(kC)) return y;
  c.check(c.shape(kC).size() <= 2 && broadcast(c.shape(kC), y.shape()) == y.shape(),
          "C of shape {} does not broadcast to {}", c.shape(kC).str(), y.shape().str());
  return map_broadcast<double>(y, to_float64(c.input(kC)), [](double x, double z) { return x + z; });
}

void compute(EvalContext& c, double u, uint64_t key) {
  constexpr double kRoundings = 4;
  const double factor = c.attr_float("alpha") * scalar_parameter(c, kAScale);
  const Tensor product = sums(c), scales = column_parameter(c, kBScale, product.dim(1));
  Tensor y = map_broadcast<double>(product, scales, [=](double x, double s) { return x * factor * s; });
  if (is_quantized(c)) {
    double largest = 0;
    for (const double v : y.span<double>()) largest = std::max(largest, std::fabs(v));
    const Requantizer requantize(c, kYScale, kYZero, c.input(kYZero).dtype(), u, key);
    return c.set_output(0, requantize(y, largest, kRoundings));
  }
  if (u > 0)
    y = Steps::noisy(u, key)
            .inexact(y, map_elements<double>(y, [](double x) { return kRoundings * std::fabs(x); }))
            .value;
  c.set_output(0, c.ideal ? y : convert(y, DType::kFloat32));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: TA
in  a_scale: T
in  a_zero_point: TA
in  B: TB
in  b_scale: T
in  b_zero_point: TB
in  C: TC ?
in  y_scale: T ?
in  y_zero_point: TYZ ?
out Y: TY
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: float
type TA: uint8 int8
type TB: uint8 int8
type TC: int32
type TYZ: uint8 int8
type TY: float uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

/// A float result: the sum becomes a float, the factor takes three roundings, and the product with it one.
constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QGemm",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = 6, .perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 7,
        },
};

}  // namespace assay::op_ms_QGemm
