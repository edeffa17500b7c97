// Dropout: the input itself, and a mask of ones; in training mode (an input from opset 12 on; before opset 7
// unless the attribute is_test is set) each element is dropped with probability `ratio` and the others are
// scaled by 1 / (1 - ratio). The choice is that of numpy.random.RandomState(seed).
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/random_source.h"
#include "tensor/random.h"

namespace assay::op_onnx_Dropout {
namespace {

/// The probability in force; 0 outside training.
double ratio_of(const EvalContext& c) {
  double ratio = 0.5;
  if (c.since() < 12) {
    if (c.since() >= 7 || c.attr_int("is_test") != 0) return 0;
    ratio = c.attr_float("ratio");
  } else {
    if (!c.has_input(2)) return 0;
    c.check(c.input(2).numel() == 1, "training_mode must have one element");
    if (!c.input(2).data<bool>()[0]) return 0;
    c.check(!c.has_input(1) || c.input(1).numel() == 1, "ratio must have one element");
    if (c.has_input(1)) ratio = c.input(1).data<double>()[0];
  }
  c.check(ratio >= 0 && ratio < 1, "the ratio {} is outside [0, 1)", ratio);
  return ratio;
}

void infer(InferContext& c) {
  infer_same_as_input(c);
  if (c.output_count() < 2) return;
  Type mask = c.input_type(0);
  if (mask.is_tensor() && c.since() >= 10) mask.dtype = DType::kBool;
  c.set_output_type(1, std::move(mask));
}

void set_mask(EvalContext& c, const Tensor& kept) {
  if (c.output_count() < 2) return;
  c.set_output(
      1, c.since() >= 10 ? kept : map_elements<bool, double>(kept, [](bool b) { return b ? 1.0 : 0.0; }));
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const double ratio = ratio_of(c);
  if (ratio == 0) {
    c.set_output(0, x);
    Tensor all = Tensor::allocate(DType::kBool, x.shape());
    std::fill_n(all.mutable_data<bool>(), all.numel(), true);
    return set_mask(c, all);
  }
  RandomState random(c.has_attr("seed") ? static_cast<uint32_t>(static_cast<uint64_t>(c.attr_int("seed")))
                                        : seed_by_name(c));
  const Tensor kept =
      map_elements<double, bool>(random.doubles(x.shape()), [ratio](double r) { return r >= ratio; });
  const double scale = 1 / (1 - ratio);
  c.set_output(0, map_broadcast_mixed<double, bool, double>(
                      x, kept, [scale](double v, bool keep) { return keep ? v * scale : 0.0; }));
  set_mask(c, kept);
}

/// Two roundings in training, the scale and the product; none otherwise.
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  const double factor = i == 0 && ratio_of(c) > 0 ? 2 * u : 0;
  return map_elements<double>(y, [factor](double v) { return factor * std::abs(v); });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out output: T
out mask: T ?
attr is_test: int = 0
attr consumed_inputs: ints
attr ratio: float = 0.5
type T: @float)",
     infer, eval},
    {6, R"(
in  data: T
out output: T
out mask: T ?
attr is_test: int = 0
attr ratio: float = 0.5
type T: @float)",
     infer, eval},
    {7, R"(
in  data: T
out output: T
out mask: T ?
attr ratio: float = 0.5
type T: @float)",
     infer, eval},
    {10, R"(
in  data: T
out output: T
out mask: T1 ?
attr ratio: float = 0.5
type T: @float
type T1: bool)",
     infer, eval},
    {12, R"(
in  data: T
in  ratio: T1 ?
in  training_mode: T2 ?
out output: T
out mask: T2 ?
attr seed: int
type T: @float
type T1: @float
type T2: bool)",
     infer, eval},
    {13, R"(
in  data: T
in  ratio: T1 ?
in  training_mode: T2 ?
out output: T
out mask: T2 ?
attr seed: int
type T: @float_ir4
type T1: @float
type T2: bool)",
     infer, eval},
    {22, R"(
in  data: T
in  ratio: T1 ?
in  training_mode: T2 ?
out output: T
out mask: T2 ?
attr seed: int
type T: @float_ir4 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T1: @float_ir4 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Dropout",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .random = true,
};

}  // namespace assay::op_onnx_Dropout
