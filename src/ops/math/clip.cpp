// Clip: y = min(max, max(min, x)), so max wins where min > max; a bound that is left out does not bind.
// NaN stays NaN. The bounds are attributes before opset 11, scalar inputs from there on.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/math/wrapping.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Clip {
namespace {

template <typename T>
Tensor clip(const Tensor& x, std::optional<T> low, std::optional<T> high) {
  using Limits = std::numeric_limits<T>;
  const T lowest = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
  const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T a = low.value_or(lowest), b = high.value_or(highest);
  if (is_nan(a) || is_nan(b)) return map_elements<T>(x, [=](T x) { return smaller(larger(x, a), b); });
  // The same, in a form that compilers vectorize: NaN fails both comparisons and stays.
  return map_elements<T>(x, [=](T x) {
    const T raised = x <= a ? a : x;
    return raised >= b ? b : raised;
  });
}

void eval_attributes(EvalContext& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  c.set_output(0, clip<double>(c.input(0), c.attr_float("min", -kInfinity), c.attr_float("max", kInfinity)));
}

template <typename T>
std::optional<T> scalar_input(const EvalContext& c, size_t i, const char* name) {
  if (!c.has_input(i)) return {};
  c.check(c.input(i).numel() == 1, "{} must be a scalar, not of shape {}", name, c.shape(i).str());
  return c.input(i).item<T>();
}

void eval(EvalContext& c) {
  visit_numeric(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, clip<T>(c.input(0), scalar_input<T>(c, 1, "min"), scalar_input<T>(c, 2, "max")));
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
out output: T
attr consumed_inputs: ints
attr max: float
attr min: float
type T: @float)",
     infer_same_as_input, eval_attributes},
    {6, R"(
in  input: T
out output: T
attr max: float = 3.40282347e+38
attr min: float = -3.40282347e+38
type T: @float)",
     infer_same_as_input, eval_attributes},
    {11, R"(
in  input: T
in  min: T ?
in  max: T ?
out output: T
type T: @float)",
     infer_same_as_input, eval},
    {12, R"(
in  input: T
in  min: T ?
in  max: T ?
out output: T
type T: @numeric)",
     infer_same_as_input, eval},
    {13, R"(
in  input: T
in  min: T ?
in  max: T ?
out output: T
type T: @numeric_ir4)",
     infer_same_as_input, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Clip",
    .versions = kVersions,
    .facts =
        {
            .moves = Moves::kSelected,
            .elementwise = 1,
            .pointwise = {.op = kernels::PointwiseOp::kClip},
            .compares = {{{.reach = ComparisonFact::Reach::kElement}}},
            .element_attributes = {"min", "max"},
        },
};

}  // namespace assay::op_onnx_Clip
