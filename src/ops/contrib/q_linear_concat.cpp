// QLinearConcat: the inputs, each with its scale and zero point, joined along an axis: Y = quantize of the
// dequantized parts. The inputs come in threes: tensor, scale, zero point.
#include <algorithm>

#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_ms_QLinearConcat {
namespace {

constexpr size_t kFirst = 2;

size_t part_count(const OpContext& c) {
  const size_t given = c.input_count() - kFirst;
  c.check(given > 0 && given % 3 == 0,
          "{} inputs follow those of Y; they must be threes of tensor, scale and zero point", given);
  return given / 3;
}

QuantizedInput part(size_t i) { return {kFirst + 3 * i, kFirst + 3 * i + 1, kFirst + 3 * i + 2}; }

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(1);
  check_quantized(c, {2, 0, 1});
  Dims out;
  Dim total(0);
  for (size_t i = 0; i < part_count(c); ++i) {
    check_quantized(c, part(i));
    c.check(dtype == DType::kUndefined || c.input_dtype(part(i).levels) == DType::kUndefined ||
                c.input_dtype(part(i).levels) == dtype,
            "part {} is {}, the result {}", i, dtype_name(c.input_dtype(part(i).levels)), dtype_name(dtype));
    const Dims* in = c.input_dims(part(i).levels);
    if (in == nullptr) return c.set_output(0, dtype);
    const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(in->size())));
    if (i == 0) out = *in;
    c.check(in->size() == out.size(), "the parts have ranks {} and {}", out.size(), in->size());
    total = dim_add(total, (*in)[axis]);
    for (size_t d = 0; d < out.size(); ++d)
      if (d != axis) out[d] = merge_dim(out[d], (*in)[d]);
  }
  out[static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(out.size())))] = total;
  c.set_output(0, dtype, std::move(out));
}

/// The shape of Y. Throws Error when the parts do not fit together.
Shape joined_shape(const EvalContext& c, size_t axis) {
  Shape out = c.shape(kFirst);
  for (size_t i = 1; i < part_count(c); ++i) {
    Shape rest = c.shape(part(i).levels);
    c.check(rest.size() == out.size(), "the parts have shapes {} and {}", c.shape(kFirst).str(), rest.str());
    const int64_t extent = rest[axis];
    rest[axis] = out[axis];
    c.check(rest == out, "the parts of shapes {} and {} differ in an axis other than {}",
            c.shape(kFirst).str(), c.shape(part(i).levels).str(), axis);
    c.check(!__builtin_add_overflow(out[axis], extent, &out[axis]), "the extents along axis {} overflow",
            axis);
  }
  return out;
}

void compute(EvalContext& c, double u, uint64_t key) {
  constexpr double kRoundings = 4;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), c.shape(kFirst).rank()));
  const Shape shape = joined_shape(c, axis);
  Tensor y = checked_allocation(c.input(1).dtype(), shape);
  const Requantizer requantize(c, 0, 1, c.input(1).dtype(), u, key);
  Region to{0, shape.strides()};
  for (size_t i = 0; i < part_count(c); ++i) {
    const Shape& own = c.shape(part(i).levels);
    const Tensor levels = requantize(dequantized(c, part(i)), largest_operand(c, part(i)), kRoundings);
    strided_copy(levels, {0, own.strides()}, y, to, own);
    to.offset += own[axis] * to.strides[axis];
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  Y_scale: TF
in  Y_zero_point: T8
in  inputs: TV ...any
out Y: T8
attr axis: int required
type T8: uint8 int8
type TF: float
type TV: uint8 int8 float)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearConcat",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 0,
        },
};

}  // namespace assay::op_ms_QLinearConcat
