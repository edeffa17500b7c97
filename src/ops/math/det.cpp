// Det: the determinant of each square matrix that the last two dimensions hold.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_Det {
namespace {

void infer(InferContext& c) {
  const Dims* x = c.input_dims(0);
  if (x == nullptr) return c.set_output(0, c.input_dtype(0));
  c.check(x->size() >= 2, "the input must have at least two dimensions, not {}", x->size());
  const Dim &rows = (*x)[x->size() - 2], &columns = x->back();
  c.check(!rows.is_known() || !columns.is_known() || rows.value() == columns.value(),
          "matrices of {} x {} are not square", rows.str(), columns.str());
  c.set_output(0, c.input_dtype(0), Dims(x->begin(), x->end() - 2));
}

/// Triangular factors of an n x n matrix in place, rows exchanged for the largest pivot: U on and above the
/// diagonal, L below it. Returns the sign of the exchanges, or 0 when a pivot is zero.
int factorize(double* a, int64_t n) {
  int sign = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      sign = -sign;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] /= a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return sign;
}

/// Calls f(matrix, n) on a copy of every matrix and gathers what it returns.
template <typename F>
Tensor map_matrices(const EvalContext& c, F f) {
  const Shape& shape = c.shape(0);
  c.check(shape.size() >= 2 && shape.back() == shape[shape.size() - 2],
          "the input must hold square matrices, not {}", shape.str());
  const int64_t n = shape.back();
  Tensor y = Tensor::allocate(DType::kFloat64, Shape(shape.begin(), shape.end() - 2));
  if (y.numel() == 0) return y;
  const double* x = c.input(0).data<double>();
  double* out = y.mutable_data<double>();
  std::vector<double> matrix(static_cast<size_t>(n * n));
  for (int64_t m = 0; m < y.numel(); ++m) {
    std::copy_n(x + m * n * n, n * n, matrix.begin());
    out[m] = f(matrix.data(), n);
  }
  return y;
}

double determinant(double* a, int64_t n) {
  double product = factorize(a, n);
  for (int64_t k = 0; k < n && product != 0; ++k) product *= a[k * n + k];
  return product;
}

void eval(EvalContext& c) { c.set_output(0, map_matrices(c, determinant)); }

double norm(const double* row, int64_t n) { return std::sqrt(std::inner_product(row, row + n, row, 0.0)); }

/// Factorizing A in floating point gives the exact factors of A + E with |E| <= n u |L||U| (Higham,
/// theorem 9.3). The determinant changes by at most the sum over the rows of |E_i| times the other rows'
/// norms (Hadamard), and by n roundings of the product. Twice that, since another implementation may choose
/// other pivots.
double perturbation(double* a, int64_t n) {
  std::vector<double> rows(static_cast<size_t>(n));
  double widest = 0;
  for (int64_t i = 0; i < n; ++i)
    widest = std::max(widest, rows[static_cast<size_t>(i)] = norm(a + i * n, n));
  factorize(a, n);
  double factors = 0;
  for (int64_t i = 0; i < n; ++i)
    factors += norm(a + i * n + i, n - i);  // |L| <= 1: no row of |L||U| exceeds this
  double product = 1, others = 0;
  for (const double r : rows) {
    others = others * r + product;
    product *= r;
  }
  return 2 * static_cast<double>(n) * (std::max(factors, widest) * others + product);
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  return map_matrices(c, [u](double* a, int64_t n) { return u * perturbation(a, n); });
}

constexpr OpVersion kVersions[] = {
    {11, "same as Ceil-6", infer, eval},
    {22, "same as Ceil-13", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Det",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .extra_steps = elimination_steps,
        },
};

}  // namespace assay::op_onnx_Det
