// RMSNormalization: x / sqrt(mean of x^2 + epsilon) over the axes from `axis` on, then * scale.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_RMSNormalization {
namespace {

void infer(InferContext& c) {
  const Type& in = c.input_type(0);
  if (!in.has_shape()) return c.set_output(0, c.input_dtype(1));
  normalize_axis(c.attr_int("axis"), static_cast<int>(in.dims->size()));
  if (const Dims* scale = c.input_dims(1)) {
    c.check(scale->size() <= in.dims->size(), "the scale has {} dimensions, the data {}", scale->size(),
            in.dims->size());
    broadcast_dims(*in.dims, *scale);
  }
  c.set_output(0, c.input_dtype(1), *in.dims);
}

int64_t row_size(const EvalContext& c) {
  const Shape& in = c.shape(0);
  return in.numel(static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank())), in.size());
}

void eval(EvalContext& c) {
  const int64_t count = row_size(c), rows = count == 0 ? 0 : c.input(0).numel() / count;
  c.check(broadcast(c.shape(0), c.shape(1)) == c.shape(0), "a scale of shape {} does not broadcast to {}",
          c.shape(1).str(), c.shape(0).str());
  const double epsilon = c.attr_float("epsilon");
  Tensor normalized = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double* px = c.input(0).data<double>();
  double* py = normalized.mutable_data<double>();
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(count, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r) {
                   double sum = 0;
                   for (int64_t i = r * count; i < (r + 1) * count; ++i) sum += px[i] * px[i];
                   const double inverse = 1.0 / std::sqrt(sum / static_cast<double>(count) + epsilon);
                   for (int64_t i = r * count; i < (r + 1) * count; ++i) py[i] = px[i] * inverse;
                 }
               });
  c.set_output(0, map_broadcast<double>(normalized, c.input(1), [](double a, double b) { return a * b; }));
}

/// The squares are positive: the root of their mean errs, relatively, by at most (n + 4) u / 2.
int64_t terms(EvalContext& c) { return row_size(c) / 2 + 6; }

constexpr OpVersion kVersions[] = {
    {23, R"(
in  X: T
in  scale: V
out Y: V
attr stash_type: int = 1
attr epsilon: float = 9.99999975e-06
attr axis: int = -1
type T: @float_ir4
type V: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "RMSNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_RMSNormalization
