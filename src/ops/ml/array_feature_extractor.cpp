// ArrayFeatureExtractor: the entries of the last axis that Y lists. A vector gives one row, [1, K].
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_ml_ArrayFeatureExtractor {
namespace {

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  const Dims *x = c.input_dims(0), *y = c.input_dims(1);
  c.check(x == nullptr || !x->empty(), "X has rank 0; it needs a last axis");
  if (x == nullptr) return c.set_output(0, dtype);
  Dims out = x->size() == 1 ? Dims{Dim(1), Dim()} : *x;
  out.back() = y != nullptr ? dim_product(*y, 0, y->size()) : Dim();
  c.set_output(0, dtype, std::move(out));
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  c.check(x.rank() >= 1, "X has rank 0; it needs a last axis");
  c.check(!is_packed(x.dtype()), "X is {}, whose elements share bytes", dtype_name(x.dtype()));
  const std::vector<int64_t> columns = c.input(1).to_int64();
  const int64_t width = x.shape().back(), count = static_cast<int64_t>(columns.size());
  for (const int64_t column : columns)
    c.check(column >= 0 && column < width, "Y has the index {}, but the last axis has {} entries", column,
            width);
  Shape shape = x.rank() == 1 ? Shape{1, count} : x.shape();
  shape[shape.size() - 1] = count;
  Tensor z = checked_allocation(x.dtype(), shape);
  visit_elements(x.dtype(), [&]<typename E>() {
    const E* from = elements<E>(x);
    E* to = mutable_elements<E>(z);
    const int64_t rows = count == 0 ? 0 : z.numel() / count;
    parallel_for(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(count, 1)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t r = first; r < last; ++r)
                     for (int64_t i = 0; i < count; ++i)
                       to[r * count + i] = from[r * width + columns[static_cast<size_t>(i)]];
                 });
  });
  c.set_output(0, std::move(z));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  Y: int64
out Z: T
type T: float double int64 int32 string)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "ArrayFeatureExtractor",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ml_ArrayFeatureExtractor
