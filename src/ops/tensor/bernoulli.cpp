// Bernoulli: one with the probability that the input gives, else zero.
#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/random_source.h"

namespace assay::op_onnx_Bernoulli {
namespace {

void eval(EvalContext& c) {
  const Tensor draws = random_source(c).doubles(c.shape(0));
  const double* p = c.input(0).data<double>();
  for (int64_t i = 0; i < draws.numel(); ++i)
    c.check(p[i] >= 0 && p[i] <= 1, "the probability {} is outside [0, 1]", p[i]);
  Tensor samples = map_broadcast<double>(
      draws, c.input(0), [](double draw, double probability) { return draw < probability ? 1 : 0; });
  set_random_output(c, std::move(samples), random_dtype(c, DType::kFloat64));
}

constexpr OpVersion kVersions[] = {
    {15, R"(
in  input: T1
out output: T2
attr dtype: int
attr seed: float
type T1: @float
type T2: @numeric_ir4 bool)",
     infer_random_like, eval},
    {22, R"(
in  input: T1
out output: T2
attr dtype: int
attr seed: float
type T1: @float_ir4
type T2: @numeric_ir4 bool)",
     infer_random_like, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "", .name = "Bernoulli", .versions = kVersions, .random = true};

}  // namespace assay::op_onnx_Bernoulli
