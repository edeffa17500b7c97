// AffineGrid: the positions that an affine map assigns to the elements of an image; each axis runs from -1 to
// 1, between the centres of its outer elements with align_corners, else between their outer edges.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_AffineGrid {
namespace {

void infer(InferContext& c) {
  check_list(c, 1);
  const Dims *theta = c.input_dims(0), *size = c.input_extents(1);
  const int64_t length = size ? static_cast<int64_t>(size->size()) : known_length(c, 1);
  c.check(theta == nullptr || theta->size() == 3, "theta must have rank 3, it has rank {}",
          theta ? theta->size() : 0);
  c.check(length < 0 || length == 4 || length == 5, "size must have 4 or 5 entries, it has {}", length);
  if (length < 0) return c.set_output(0, c.input_dtype(0));
  Dims out(static_cast<size_t>(length));
  if (size != nullptr) {
    out[0] = (*size)[0];
    for (size_t d = 1; d + 1 < out.size(); ++d) out[d] = (*size)[d + 1];
  }
  if (theta != nullptr) out[0] = merge_dim(out[0], (*theta)[0]);
  out.back() = Dim(length - 2);
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// The coordinates of an axis of n elements.
std::vector<double> coordinates(int64_t n, bool align_corners) {
  std::vector<double> out;
  const auto count = static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<double>(i);
    if (align_corners)
      out.push_back(n == 1 ? 0 : (2 * at - (count - 1)) / (count - 1));
    else
      out.push_back((2 * at + 1 - count) / count);
  }
  return out;
}

/// theta * (x, y, [z,] 1) for every element; with `magnitudes` the sums of the terms' magnitudes.
void compute(EvalContext& c, bool magnitudes) {
  const Tensor& theta = c.input(0);
  const std::vector<int64_t> size = integer_list(c, 1);
  const size_t dims = size.size() - 2;
  c.check(size.size() == 4 || size.size() == 5, "size must have 4 or 5 entries, it has {}", size.size());
  const auto rows = static_cast<int64_t>(dims);
  c.check(theta.shape() == Shape({size[0], rows, rows + 1}), "theta has shape {}, size needs ({}, {}, {})",
          theta.shape().str(), size[0], rows, rows + 1);
  Shape out = {size[0]};
  for (size_t d = 0; d < dims; ++d) out.push_back(size[d + 2]);
  out.push_back(rows);
  for (const int64_t d : out) c.check(d >= 0, "size has the negative entry {}", d);
  Tensor y = checked_allocation(DType::kFloat64, out);
  std::vector<std::vector<double>> axes;
  for (size_t d = 0; d < dims; ++d)
    axes.push_back(coordinates(size[d + 2], c.attr_int("align_corners") != 0));
  const int64_t points = out.numel(1, dims + 1);
  const double* matrix = theta.data<double>();
  double* to = y.mutable_data<double>();
  parallel_for(size[0] * points, kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      double point[4] = {1, 1, 1, 1};  // x, y, [z,] 1: the innermost axis first
      int64_t rest = p;
      for (size_t d = dims; d-- > 0; rest /= size[d + 2])
        point[dims - 1 - d] = axes[d][static_cast<size_t>(rest % size[d + 2])];
      point[dims] = 1;
      const double* m = matrix + p / points * rows * (rows + 1);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (int64_t k = 0; k <= rows; ++k) {
          const double term = m[r * (rows + 1) + k] * point[k];
          sum += magnitudes ? std::abs(term) : term;
        }
        to[p * rows + r] = sum;
      }
    }
  });
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) { compute(c, false); }
void magnitude(EvalContext& c) { compute(c, true); }
int64_t terms(EvalContext& c) { return c.input(1).numel() - 1; }

constexpr OpVersion kVersions[] = {
    {20, R"(
in  theta: T1
in  size: T2
out grid: T1
attr align_corners: int = 0
type T1: @float_ir4
type T2: int64)",
     infer, eval},
};

}  // namespace

// Two more roundings for a coordinate, one for the product.
constinit const OpDef def = {
    .domain = "",
    .name = "AffineGrid",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 3, .terms = terms, .magnitude = magnitude},
};

}  // namespace assay::op_onnx_AffineGrid
