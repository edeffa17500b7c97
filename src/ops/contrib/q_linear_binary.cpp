#include "ops/contrib/q_linear_binary.h"

#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"

namespace assay {
namespace {

constexpr QuantizedInput kA = {0, 1, 2}, kB = {3, 4, 5};
constexpr size_t kScale = 6, kZero = 7;

}  // namespace

void infer_q_linear_binary(InferContext& c) {
  for (const QuantizedInput& in : {kA, kB, QuantizedInput{0, kScale, kZero}}) check_quantized(c, in);
  const Dims *a = c.input_dims(kA.levels), *b = c.input_dims(kB.levels);
  const DType dtype = c.input_dtype(kA.levels);
  if (a == nullptr || b == nullptr) return c.set_output(0, dtype);
  c.set_output(0, dtype, broadcast_dims(*a, *b));
}

void eval_q_linear_binary(EvalContext& c, double u, uint64_t key, double (*f)(double, double),
                          double (*largest)(double, double)) {
  constexpr double kRoundings = 4;
  const Requantizer requantize(c, kScale, kZero, c.input(kA.levels).dtype(), u, key);
  const Tensor result = map_broadcast<double>(dequantized(c, kA), dequantized(c, kB), f);
  c.set_output(0, requantize(result, largest(largest_operand(c, kA), largest_operand(c, kB)), kRoundings));
}

}  // namespace assay
