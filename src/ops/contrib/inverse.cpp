// Inverse: the inverse of each square matrix in the last two dimensions, by elimination with partial
// pivoting.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"

namespace assay::op_ms_Inverse {
namespace {

void infer(InferContext& c) {
  if (const Dims* in = c.input_dims(0)) {
    c.check(in->size() >= 2, "the input has {} dimensions where at least 2 are needed", in->size());
    const Dim &rows = (*in)[in->size() - 2], &columns = in->back();
    c.check(!rows.is_known() || !columns.is_known() || rows.value() == columns.value(),
            "a matrix of {} rows and {} columns has no inverse", rows.str(), columns.str());
  }
  infer_same_as_input(c);
}

/// Turns `a` into the identity, and the identity in `inverse` into its inverse.
void invert(double* a, double* inverse, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i) inverse[i] = i / n == i % n;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t r = column + 1; r < n; ++r)
      if (std::fabs(a[r * n + column]) > std::fabs(a[pivot * n + column])) pivot = r;
    require(a[pivot * n + column] != 0, ErrorCode::kInvalidModel, "a matrix is singular");
    for (double* m : {a, inverse}) {
      for (int64_t j = 0; pivot != column && j < n; ++j) std::swap(m[pivot * n + j], m[column * n + j]);
    }
    const double scale = 1 / a[column * n + column];
    for (double* m : {a, inverse})
      for (int64_t j = 0; j < n; ++j) m[column * n + j] *= scale;
    for (int64_t r = 0; r < n; ++r) {
      const double factor = a[r * n + column];
      if (r == column || factor == 0) continue;
      for (double* m : {a, inverse})
        for (int64_t j = 0; j < n; ++j) m[r * n + j] -= factor * m[column * n + j];
    }
  }
}

void eval(EvalContext& c) {
  const Shape& shape = c.shape(0);
  c.check(shape.size() >= 2 && shape[shape.size() - 2] == shape.back(),
          "an input of shape {} holds no square matrices", shape.str());
  const int64_t n = shape.back(), count = shape.numel(0, shape.size() - 2);
  Tensor y = Tensor::allocate(DType::kFloat64, shape);
  const double* from = c.input(0).data<double>();
  double* to = y.mutable_data<double>();
  parallel_for(n == 0 ? 0 : count, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      std::vector<double> a(from + i * n * n, from + (i + 1) * n * n);
      invert(a.data(), to + i * n * n, n);
    }
  });
  c.set_output(0, std::move(y));
}

/// The inverse X of A errs by at most c n u |X| |A| |X| (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., section 14.3, for growth factors of size 1).
void magnitude(EvalContext& c) {
  eval(c);
  const auto absolute = [](const Tensor& t) {
    return map_elements<double>(t, [](double x) { return std::fabs(x); });
  };
  const Tensor inverse = absolute(c.outputs()[0]);
  c.set_output(0, matrix_product(matrix_product(inverse, absolute(c.input(0))), inverse));
}

int64_t terms(EvalContext& c) { return 3 * c.shape(0).back(); }

constexpr OpVersion kVersions[] = {
    {1, "same as Ceil-6", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "Inverse",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
};

}  // namespace assay::op_ms_Inverse
