// QLinearReduceMean: quantize(the mean of dequantize(data) over the axes).
#include "ops/contrib/quantized.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"
#include "ops/tensor/axes.h"

namespace assay::op_ms_QLinearReduceMean {
namespace {

/// The dimensions that the attribute names; all when it names none.
std::vector<bool> reduced(const OpContext& c, size_t rank) {
  const std::vector<int64_t> axes = c.attr_ints("axes");
  std::vector<bool> flags(rank, axes.empty());
  for (const size_t axis : normalize_axes(axes, rank)) flags[axis] = true;
  return flags;
}

void infer(InferContext& c) {
  check_quantized(c, {0, 1, 2});
  check_quantized(c, {0, 3, 4});
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  c.set_output(0, c.input_dtype(0), reduced_dims(*in, reduced(c, in->size()), c.attr_int("keepdims") != 0));
}

void compute(EvalContext& c, double u, uint64_t key) {
  const Shape& in = c.shape(0);
  const Reduction r = plan_reduction(in, reduced(c, in.size()), c.attr_int("keepdims") != 0);
  const auto n = static_cast<double>(r.count);
  const Tensor mean = reduce<double>(
      dequantized(c, {0, 1, 2}), r, 0.0, [](double x) { return x; }, [](double a, double b) { return a + b; },
      [n](double sum) { return sum / n; });
  const Requantizer requantize(c, 3, 4, c.input(0).dtype(), u, key);
  c.set_output(0, requantize(mean, largest_operand(c, {0, 1, 2}), n + 4));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
in  data_scale: float
in  data_zero_point: T ?
in  reduced_scale: float
in  reduced_zero_point: T ?
out reduced: T
attr keepdims: int required
attr axes: ints required
type T: uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearReduceMean",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
        },
};

}  // namespace assay::op_ms_QLinearReduceMean
