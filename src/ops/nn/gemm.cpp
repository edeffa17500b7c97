// Gemm: Y = alpha * A' * B' + beta * C, where A' and B' are A and B or their transposes and C broadcasts to
// the product.
#include "kernels/gemm.h"

#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Gemm {
namespace {

void infer(InferContext& c) {
  const Dims *a = c.input_dims(0), *b = c.input_dims(1);
  const bool trans_a = c.attr_int("transA") != 0, trans_b = c.attr_int("transB") != 0;
  c.check(a == nullptr || a->size() == 2, "input A has {} dimensions where 2 are needed", a ? a->size() : 0);
  c.check(b == nullptr || b->size() == 2, "input B has {} dimensions where 2 are needed", b ? b->size() : 0);
  const Dim m = a ? (*a)[trans_a ? 1 : 0] : Dim(), n = b ? (*b)[trans_b ? 0 : 1] : Dim();
  if (a != nullptr && b != nullptr) {
    const Dim &ka = (*a)[trans_a ? 0 : 1], &kb = (*b)[trans_b ? 1 : 0];
    c.check(!ka.is_known() || !kb.is_known() || ka.value() == kb.value(),
            "the inner extents {} and {} differ", ka.str(), kb.str());
  }
  if (const Dims* bias = c.has_input(2) ? c.input_dims(2) : nullptr) {
    c.check(bias->size() <= 2, "input C has {} dimensions where at most 2 are allowed", bias->size());
    broadcast_dims({m, n}, *bias);
  }
  c.set_output(0, c.input_dtype(0), {m, n});
}

/// The operands as eval reads them.
struct Plan {
  int64_t m, n, k;
  bool trans_a, trans_b;
  bool has_bias;
  std::vector<int64_t> bias_strides;
};

Plan make_plan(const EvalContext& c) {
  Plan p;
  const Shape &a = c.shape(0), &b = c.shape(1);
  c.check(a.size() == 2 && b.size() == 2, "A and B must have 2 dimensions, found {} and {}", a.str(),
          b.str());
  p.trans_a = c.attr_int("transA") != 0;
  p.trans_b = c.attr_int("transB") != 0;
  p.m = a[p.trans_a ? 1 : 0];
  p.k = a[p.trans_a ? 0 : 1];
  p.n = b[p.trans_b ? 0 : 1];
  c.check(b[p.trans_b ? 1 : 0] == p.k, "the inner extents of {} and {} differ", a.str(), b.str());
  p.has_bias = c.has_input(2);
  if (p.has_bias) {
    const Shape product = {p.m, p.n};
    c.check(c.shape(2).size() <= 2 && broadcast(c.shape(2), product) == product,
            "C of shape {} does not broadcast to {}", c.shape(2).str(), product.str());
    p.bias_strides = broadcast_strides(c.shape(2), product);
  }
  return p;
}

kernels::MatrixView view(const double* data, int64_t columns, bool transposed) {
  return transposed ? kernels::MatrixView{data, 1, columns} : kernels::MatrixView{data, columns, 1};
}

Tensor multiply(const Plan& p, const Tensor& a, const Tensor& b, const Tensor& bias, double alpha,
                double beta) {
  Tensor y = Tensor::allocate(DType::kFloat64, {p.m, p.n});
  double* out = y.mutable_data<double>();
  kernels::gemm(p.m, p.n, p.k, view(a.data<double>(), a.dim(1), p.trans_a),
                view(b.data<double>(), b.dim(1), p.trans_b), out, p.n);
  const double* add = p.has_bias && beta != 0 ? bias.data<double>() : nullptr;
  if (alpha == 1 && add == nullptr) return y;
  parallel_for(p.m, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(p.n, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   for (int64_t j = 0; j < p.n; ++j) {
                     const double sum = add ? beta * add[i * p.bias_strides[0] + j * p.bias_strides[1]] : 0.0;
                     out[i * p.n + j] = alpha * out[i * p.n + j] + sum;
                   }
               });
  return y;
}

/// Integers: the sums wrap; factors other than 1 are applied in double and the result truncated.
template <typename T>
Tensor multiply_integers(const Plan& p, const Tensor& a, const Tensor& b, const Tensor& bias, double alpha,
                         double beta) {
  Tensor y = Tensor::allocate(dtype_of<T>(), {p.m, p.n});
  const T *pa = a.data<T>(), *pb = b.data<T>(), *pc = p.has_bias ? bias.data<T>() : nullptr;
  T* out = y.mutable_data<T>();
  const auto scaled = [](double factor, T x) {
    return factor == 1 ? x : static_cast<T>(factor * static_cast<double>(x));
  };
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      uint64_t sum = 0;
      for (int64_t q = 0; q < p.k; ++q)
        sum += static_cast<uint64_t>(pa[p.trans_a ? q * p.m + i : i * p.k + q]) *
               static_cast<uint64_t>(pb[p.trans_b ? j * p.k + q : q * p.n + j]);
      const T add = pc ? scaled(beta, pc[i * p.bias_strides[0] + j * p.bias_strides[1]]) : T(0);
      const T product = scaled(alpha, static_cast<T>(sum));
      out[i * p.n + j] = static_cast<T>(static_cast<uint64_t>(product) + static_cast<uint64_t>(add));
    }
  return y;
}

void eval(EvalContext& c) {
  const Plan p = make_plan(c);
  const double alpha = c.attr_float("alpha"), beta = c.attr_float("beta");
  const Tensor bias = p.has_bias ? c.input(2) : Tensor();
  visit_dtype<double, int64_t, int32_t, uint64_t, uint32_t>(c.input(0).dtype(), [&]<typename T>() {
    if constexpr (std::is_same_v<T, double>)
      c.set_output(0, multiply(p, c.input(0), c.input(1), bias, alpha, beta));
    else
      c.set_output(0, multiply_integers<T>(p, c.input(0), c.input(1), bias, alpha, beta));
  });
}

/// k products, the scaling by alpha, the scaled C and its addition.
int64_t terms(EvalContext& c) { return make_plan(c).k + 2; }

/// |alpha| * |A'| * |B'| + |beta| * |C|.
void magnitude(EvalContext& c) {
  const Plan p = make_plan(c);
  const auto absolute = [](const Tensor& t) {
    return map_elements<double>(t, [](double x) { return std::fabs(x); });
  };
  const Tensor bias = p.has_bias ? absolute(c.input(2)) : Tensor();
  c.set_output(0, multiply(p, absolute(c.input(0)), absolute(c.input(1)), bias,
                           std::fabs(c.attr_float("alpha")), std::fabs(c.attr_float("beta"))));
}

bool rough(EvalContext& c, kernels::ApproxOf what) {
  const Plan p = make_plan(c);
  if (c.input(0).dtype() != DType::kFloat64 || c.input(1).dtype() != DType::kFloat64) return false;
  Tensor y = Tensor::allocate(DType::kFloat64, {p.m, p.n});
  auto* out = y.mutable_data<double>();
  if (!kernels::approx_gemm(what, p.m, p.n, p.k,
                            view(c.input(0).data<double>(), c.input(0).dim(1), p.trans_a),
                            view(c.input(1).data<double>(), c.input(1).dim(1), p.trans_b), out, p.n))
    return false;
  const bool magnitudes = what == kernels::ApproxOf::kMagnitudes;
  const double alpha = c.attr_float("alpha"), beta = std::fabs(c.attr_float("beta"));
  const double* add = magnitudes && p.has_bias && beta != 0 ? c.input(2).data<double>() : nullptr;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double& x = out[i * p.n + j];
      x *= magnitudes ? std::fabs(alpha) : alpha;
      if (add != nullptr) x += beta * std::fabs(add[i * p.bias_strides[0] + j * p.bias_strides[1]]);
    }
  c.set_output(0, std::move(y));
  return true;
}

bool stacks(const EvalContext& c) { return c.attr_int("transA") == 0; }

/// Before opset 7 C has the shape of the product unless the attribute `broadcast` says that it may repeat.
void infer_legacy(InferContext& c) {
  infer(c);
  const Dims *a = c.input_dims(0), *b = c.input_dims(1), *bias = c.input_dims(2);
  if (a == nullptr || b == nullptr || bias == nullptr || c.attr_int("broadcast") != 0) return;
  const Dims product = {(*a)[c.attr_int("transA") != 0 ? 1 : 0], (*b)[c.attr_int("transB") != 0 ? 0 : 1]};
  bool fits = bias->size() == 2;
  for (size_t i = 0; fits && i < 2; ++i)
    fits = !(*bias)[i].is_known() || !product[i].is_known() || (*bias)[i].value() == product[i].value();
  c.check(fits,
          "C of shape {} is not of the product's shape {}, and the attribute 'broadcast' does not ask for it",
          dims_str(*bias), dims_str(product));
}

void eval_legacy(EvalContext& c) {
  const Plan p = make_plan(c);
  const Shape product = {p.m, p.n};
  c.check(c.attr_int("broadcast") != 0 || c.shape(2) == product,
          "C of shape {} is not of the product's shape {}, and the attribute 'broadcast' does not ask for it",
          c.shape(2).str(), product.str());
  eval(c);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
in  C: T
out Y: T
attr beta: float = 1
attr broadcast: int = 0
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float)",
     infer_legacy, eval_legacy},
    {6, "same as Gemm-1", infer_legacy, eval_legacy},
    {7, R"(
in  A: T
in  B: T
in  C: T
out Y: T
attr beta: float = 1
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float)",
     infer, eval},
    {9, R"(
in  A: T
in  B: T
in  C: T
out Y: T
attr beta: float = 1
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {11, R"(
in  A: T
in  B: T
in  C: T ?
out Y: T
attr beta: float = 1
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
in  C: T ?
out Y: T
attr beta: float = 1
attr transB: int = 0
attr alpha: float = 1
attr transA: int = 0
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Gemm",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating,
                 .terms = terms,
                 .magnitude = magnitude,
                 .rough = rough,
                 .stacks = stacks},
    .facts =
        {
            .overflows = 3,
            .is_total = true,
            .product = ProductFact::kFloats,
            .multiply_accumulates = gemm_macs,
        },
};

}  // namespace assay::op_onnx_Gemm
