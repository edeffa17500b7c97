// LpNormalization: x over the 1-norm or 2-norm of its line along an axis; a line of zeros stays zero.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_LpNormalization {
namespace {

int64_t read_p(const OpContext& c) {
  const int64_t p = c.attr_int("p");
  c.check(p == 1 || p == 2, "attribute 'p' is {}; only 1 and 2 are defined", p);
  return p;
}

void infer(InferContext& c) {
  read_p(c);
  if (c.input_rank(0) > 0) normalize_axis(c.attr_int("axis"), c.input_rank(0));
  infer_same_as_input(c);
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const bool squares = read_p(c) == 2;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  const int64_t count = in[axis], inner = in.numel(axis + 1, in.size()), lines = in.numel(0, axis) * inner;
  Tensor y = Tensor::allocate(DType::kFloat64, in);
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  parallel_for(lines, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(count, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t line = first; line < last; ++line) {
                   const int64_t begin = line / inner * count * inner + line % inner,
                                 end = begin + count * inner;
                   double sum = 0;
                   for (int64_t i = begin; i < end; i += inner)
                     sum += squares ? px[i] * px[i] : std::fabs(px[i]);
                   const double norm = squares ? std::sqrt(sum) : sum;
                   for (int64_t i = begin; i < end; i += inner) py[i] = norm == 0 ? 0.0 : px[i] / norm;
                 }
               });
  c.set_output(0, std::move(y));
}

/// The norm is a sum of positive terms.
int64_t terms(EvalContext& c) {
  return c.shape(0)[static_cast<size_t>(normalize_axis(c.attr_int("axis"), c.shape(0).rank()))] + 3;
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr p: int = 2
attr axis: int = -1
type T: @float)",
     infer, eval},
    {22, R"(
in  input: T
out output: T
attr p: int = 2
attr axis: int = -1
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LpNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_LpNormalization
