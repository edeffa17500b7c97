// MatMul: matrix product as numpy.matmul: the last two dimensions multiply, the others broadcast; a vector is a row on
// the left and a column on the right.
#include "kernels/gemm.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay {
namespace {

void infer(InferContext& c) {
  const Dims *pa = c.input_dims(0), *pb = c.input_dims(1);
  if (pa == nullptr || pb == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims a = *pa, b = *pb;
  c.check(!a.empty() && !b.empty(), "the inputs must have at least one dimension");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.push_back(Dim(1));
  const Dim &ka = a.back(), &kb = b[b.size() - 2];
  c.check(!ka.is_known() || !kb.is_known() || ka.value() == kb.value(), "the inner extents {} and {} differ", ka.str(),
          kb.str());
  Dims out = broadcast_dims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  c.set_output(0, c.input_dtype(0), std::move(out));
}

template <typename T>
Tensor multiply(Tensor a, Tensor b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = a.reshaped({1, a.dim(0)});
  if (column) b = b.reshaped({b.dim(0), 1});
  const size_t ra = a.shape().size(), rb = b.shape().size();
  const int64_t m = a.dim(ra - 2), k = a.dim(ra - 1), n = b.dim(rb - 1);
  require(k == b.dim(rb - 2), ErrorCode::kInvalidModel, "the inner extents of {} and {} differ", a.shape().str(),
          b.shape().str());
  const Shape batch_a(a.shape().begin(), a.shape().end() - 2), batch_b(b.shape().begin(), b.shape().end() - 2);
  const Shape batch = broadcast(batch_a, batch_b);
  Shape shape = batch;
  if (!row) shape.push_back(m);
  if (!column) shape.push_back(n);
  Tensor y = Tensor::allocate(dtype_of<T>(), shape);
  const std::vector<int64_t> sa = broadcast_strides(batch_a, batch), sb = broadcast_strides(batch_b, batch);
  const T* pa = a.data<T>();
  const T* pb = b.data<T>();
  T* py = y.mutable_data<T>();
  const int64_t count = batch.numel();
  for (int64_t i = 0; i < count; ++i) {
    int64_t oa = 0, ob = 0, rest = i;
    for (size_t d = batch.size(); d-- > 0; rest /= batch[d]) {
      oa += rest % batch[d] * sa[d];
      ob += rest % batch[d] * sb[d];
    }
    kernels::gemm(m, n, k, pa + oa * m * k, k, pb + ob * k * n, n, py + i * m * n, n);
  }
  return y;
}

void eval(EvalContext& c) {
  visit_dtype<double, int64_t, int32_t, uint64_t, uint32_t>(
      c.input(0).dtype(), [&]<typename T>() { c.set_output(0, multiply<T>(c.input(0), c.input(1))); });
}

int64_t terms(EvalContext& c) { return c.shape(0).back(); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out Y: T
type T: @float)",
     infer, eval},
    {9, R"(
in  A: T
in  B: T
out Y: T
type T: @float uint32 uint64 int32 int64)",
     infer, eval},
    {13, R"(
in  A: T
in  B: T
out Y: T
type T: @float_ir4 uint32 uint64 int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef op_onnx_MatMul = {
    .domain = "",
    .name = "MatMul",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
};

}  // namespace assay
