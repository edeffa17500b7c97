#include "ops/nn/matrix_product.h"

#include "kernels/gemm.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"

namespace assay {
namespace {

/// Both operands as batches of matrices.
struct Plan {
  int64_t m, n, k;
  Shape batch, output;
  std::vector<int64_t> a_strides, b_strides;  ///< in matrices
};

Plan make_plan(Shape a, Shape b) {
  require(!a.empty() && !b.empty(), ErrorCode::kInvalidModel,
          "the operands must have at least one dimension");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert_at(0, 1);
  if (column) b.push_back(1);
  Plan p{.m = a[a.size() - 2], .n = b.back(), .k = a.back()};
  require(p.k == b[b.size() - 2], ErrorCode::kInvalidModel, "the inner extents of {} and {} differ", a.str(),
          b.str());
  const Shape batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  p.batch = broadcast(batch_a, batch_b);
  p.a_strides = broadcast_strides(batch_a, p.batch);
  p.b_strides = broadcast_strides(batch_b, p.batch);
  p.output = p.batch;
  if (!row) p.output.push_back(p.m);
  if (!column) p.output.push_back(p.n);
  // Matrices that all multiply one right-hand matrix are one tall matrix.
  if (batch_b.numel() == 1 && batch_a == p.batch) {
    p.m *= p.batch.numel();
    p.batch = {};
    p.a_strides.clear();
    p.b_strides.clear();
  }
  return p;
}

template <typename T>
Tensor multiply(const Plan& p, const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::allocate(dtype_of<T>(), p.output);
  const T *pa = a.data<T>(), *pb = b.data<T>();
  T* py = y.mutable_data<T>();
  const int64_t count = p.batch.numel();
  const auto run = [&](int64_t first, int64_t last) {
    OffsetCursor at_a(p.batch.dims(), p.a_strides), at_b(p.batch.dims(), p.b_strides);
    at_a.seek(first);
    at_b.seek(first);
    for (int64_t i = first; i < last; ++i, at_a.next(), at_b.next())
      kernels::gemm(p.m, p.n, p.k, pa + at_a.offset() * p.m * p.k, p.k, pb + at_b.offset() * p.k * p.n, p.n,
                    py + i * p.m * p.n, p.n);
  };
  if (count >= 2 * thread_count())
    parallel_for(count, 1, run);
  else
    run(0, count);
  return y;
}

}  // namespace

std::optional<Dims> infer_product_dims(const InferContext& c, size_t left, size_t right) {
  const Dims *pa = c.input_dims(left), *pb = c.input_dims(right);
  if (pa == nullptr || pb == nullptr) return {};
  Dims a = *pa, b = *pb;
  c.check(!a.empty() && !b.empty(), "the inputs must have at least one dimension");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.push_back(Dim(1));
  const Dim &ka = a.back(), &kb = b[b.size() - 2];
  c.check(!ka.is_known() || !kb.is_known() || ka.value() == kb.value(), "the inner extents {} and {} differ",
          ka.str(), kb.str());
  Dims out = broadcast_dims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  return out;
}

Tensor matrix_product(const Tensor& a, const Tensor& b) {
  const Plan p = make_plan(a.shape(), b.shape());
  return visit_dtype<double, int64_t, int32_t, uint64_t, uint32_t>(
      a.dtype(), [&]<typename T>() { return multiply<T>(p, a, b); });
}

std::optional<Tensor> rough_matrix_product(kernels::ApproxOf what, const Tensor& a, const Tensor& b) {
  if (a.dtype() != DType::kFloat64 || b.dtype() != DType::kFloat64) return {};
  const Plan p = make_plan(a.shape(), b.shape());
  if (p.batch.numel() != 1) return {};
  Tensor y = Tensor::allocate(DType::kFloat64, p.output);
  const bool done = kernels::approx_gemm(what, p.m, p.n, p.k, {a.data<double>(), p.k, 1},
                                         {b.data<double>(), p.n, 1}, y.mutable_data<double>(), p.n);
  return done ? std::optional(std::move(y)) : std::nullopt;
}

}  // namespace assay
