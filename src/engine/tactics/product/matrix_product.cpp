#include "engine/tactics/product/matrix_product.h"

#include <algorithm>
#include <numeric>

#include "analysis/match.h"

namespace assay::engine {
namespace {

Matrix permuted(const Matrix& m, const std::vector<int64_t>& perm) {
  Matrix p;
  for (const int64_t axis : perm) {
    p.shape.push_back(m.shape[static_cast<size_t>(axis)]);
    p.strides.push_back(m.strides[static_cast<size_t>(axis)]);
  }
  return p;
}

std::vector<int64_t> permutation_of(const Node& transpose, size_t rank) {
  std::vector<int64_t> perm = ints_attribute(transpose, "perm");
  for (size_t i = 0; perm.size() < rank; ++i) perm.push_back(static_cast<int64_t>(rank - 1 - i));
  return perm;
}

std::vector<int64_t> swapped_last(size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

/// Folds leading dimensions of a dense stack into the rows, so that a packed matrix multiplies it at once.
void flatten_rows(MatrixProduct& p) {
  const int64_t k = p.a.shape.back(), n = p.out.shape.back();
  p.a = dense({p.a.shape.numel() / std::max<int64_t>(k, 1), k});
  p.out = dense({p.out.shape.numel() / std::max<int64_t>(n, 1), n});
}

/// One number per column of the result.
bool is_column_vector(const Shape& s, int64_t columns) {
  return s.numel() == columns && !s.empty() && s.back() == columns;
}

/// The parts of a Gemm besides its epilogue. Returns why not, or nothing.
std::string read_gemm(const Problem& problem, MatrixProduct& p) {
  const Node& g = problem.node();
  if (int_attribute(g, "transA", 0) != 0) p.a = permuted(p.a, swapped_last(2));
  if (int_attribute(g, "transB", 0) != 0) p.b = permuted(p.b, swapped_last(2));
  const double alpha = float_attribute(g, "alpha", 1), beta = float_attribute(g, "beta", 1);
  if (alpha != 1 && !p.packed) return "alpha with a right operand that is not constant";
  p.weight_scale = alpha;
  const Value* c = g.input(2);
  if (c == nullptr || beta == 0) return {};
  const Shape* shape = problem.shape(c);
  if (shape == nullptr || !is_column_vector(*shape, p.b.shape[1]) || !c->tensor().defined())
    return "C is not one constant per column";
  p.bias = c;
  p.bias_scale = beta;
  return {};
}

/// Takes the first step as the bias when it adds one constant per column.
void take_bias(MatrixProduct& p) {
  if (p.bias != nullptr || p.epilogue.empty() || p.epilogue[0].form.op != kernels::PointwiseOp::kAdd) return;
  const Value* v = p.epilogue[0].operand;
  if (v == nullptr || !v->tensor().defined() || !is_column_vector(v->tensor().shape(), p.out.shape.back()))
    return;
  p.bias = v;
  p.epilogue.erase(p.epilogue.begin());
}

std::vector<int64_t> inverse_of(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

/// The operands and the result as they lie in memory. Returns why not, or nothing.
std::string read_matrices(const Problem& problem, MatrixProduct& p) {
  const Region& region = problem.region();
  p.left = region.operand(0);
  p.right = region.operand(1);
  const Shape *a = problem.shape(p.left), *b = problem.shape(p.right), *out = problem.output_shape(0);
  if (a == nullptr || b == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.left->type.dtype != DType::kFloat32 || p.right->type.dtype != DType::kFloat32)
    return "the operands are not float32";
  if (a->rank() < 2 || b->rank() < 2) return "an operand is a vector";
  if (out->numel() == 0 || a->numel() == 0) return "the result is empty";
  p.a = dense(*a);
  p.b = dense(*b);
  p.out = dense(*out);
  return {};
}

/// Reads and writes through the transpositions that are part of the region.
void take_transpositions(const Region& region, MatrixProduct& p) {
  const auto permutation = [](const Node* transpose, const Matrix& m) {
    return permutation_of(*transpose, m.shape.size());
  };
  if (region.transposed[0] != nullptr) p.a = permuted(p.a, permutation(region.transposed[0], p.a));
  if (region.transposed[1] != nullptr) p.b = permuted(p.b, permutation(region.transposed[1], p.b));
  if (region.result_transposed == nullptr) return;
  p.out = permuted(p.out, inverse_of(permutation(region.result_transposed, p.out)));
  p.rearranged = true;
}

}  // namespace

std::string read_product(const Problem& problem, MatrixProduct& p) {
  const Region& region = problem.region();
  if (std::string reason = read_matrices(problem, p); !reason.empty()) return reason;
  take_transpositions(region, p);
  p.epilogue = region.epilogue;
  p.packed = p.right->tensor().defined() && p.b.shape.rank() == 2;
  if (is_op(problem.node(), "Gemm"))
    if (std::string reason = read_gemm(problem, p); !reason.empty()) return reason;
  take_bias(p);
  p.has_bias = p.bias != nullptr;
  if (p.packed && p.a.shape.rank() > 2) {
    if (!is_dense(p.a) || !is_dense(p.out)) return "a transposed stack meets a packed matrix";
    flatten_rows(p);
  }
  if (p.a.shape.rank() != p.b.shape.rank() || p.a.shape.rank() != p.out.shape.rank())
    return "the operands differ in rank";
  return {};
}

}  // namespace assay::engine
