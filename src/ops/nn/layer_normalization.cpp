// LayerNormalization: (x - mean) / sqrt(variance + epsilon) over the axes from `axis` on, then * Scale + B.
// The mean and the inverse of the deviation are outputs too.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/normalize.h"
#include "ops/op_list.h"

namespace assay::op_onnx_LayerNormalization {
namespace {

void infer(InferContext& c) {
  infer_same_as_input(c);
  const auto stash = c.attr_int("stash_type");
  c.check(is_known_dtype(stash), "attribute 'stash_type' is {}, which is not an element type", stash);
  const Dims* in = c.input_dims(0);
  for (size_t i = 1; i < c.output_count(); ++i) c.set_output(i, static_cast<DType>(stash));
  if (in == nullptr) return;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(in->size())));
  for (size_t i = 1; i < c.input_count(); ++i) {
    const Dims* d = c.has_input(i) ? c.input_dims(i) : nullptr;
    if (d == nullptr) continue;
    c.check(d->size() <= in->size(), "input {} has {} dimensions, the data {}", i, d->size(), in->size());
    broadcast_dims(*in, *d);
  }
  Dims reduced = *in;
  std::fill(reduced.begin() + static_cast<std::ptrdiff_t>(axis), reduced.end(), Dim(1));
  for (size_t i = 1; i < c.output_count(); ++i) c.set_output(i, static_cast<DType>(stash), reduced);
}

Tensor absolute(const Tensor& t) {
  return map_elements<double>(t, [](double x) { return std::fabs(x); });
}

/// a op b, where b must broadcast to a.
template <typename F>
Tensor apply(const EvalContext& c, const Tensor& a, const Tensor& b, F f) {
  c.check(broadcast(a.shape(), b.shape()) == a.shape(),
          "a scale or bias of shape {} does not broadcast to {}", b.shape().str(), a.shape().str());
  return map_broadcast<double>(a, b, f);
}

void compute(EvalContext& c, Normalized what) {
  const Shape& in = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  NormalizedRows rows = normalize_rows(c.input(0), in.numel(axis, in.size()), c.attr_float("epsilon"), what);
  const auto part = [&](size_t i) { return what == Normalized::kValues ? c.input(i) : absolute(c.input(i)); };
  Tensor y = apply(c, rows.values, part(1), [](double a, double b) { return a * b; });
  if (c.has_input(2) && what != Normalized::kDrifts)
    y = apply(c, y, part(2), [](double a, double b) { return a + b; });
  c.set_output(0, std::move(y));
  Shape reduced = in;
  std::fill(reduced.begin() + static_cast<std::ptrdiff_t>(axis), reduced.end(), 1);
  // Rows of no elements have no mean: 0 / 0, as the formula says.
  rows.mean.resize(static_cast<size_t>(reduced.numel()), std::nan(""));
  rows.inverse.resize(static_cast<size_t>(reduced.numel()), std::nan(""));
  if (c.output_count() > 1) c.set_output(1, Tensor::from<double>(reduced, rows.mean));
  if (c.output_count() > 2) c.set_output(2, Tensor::from<double>(reduced, rows.inverse));
}

void eval(EvalContext& c) { compute(c, Normalized::kValues); }
void magnitude(EvalContext& c) { compute(c, Normalized::kMagnitudes); }
void drift(EvalContext& c) { compute(c, Normalized::kDrifts); }

int64_t terms(EvalContext& c) {
  const Shape& in = c.shape(0);
  return in.numel(static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank())), in.size()) + 10;
}

constexpr OpVersion kVersions[] = {
    {17, R"(
in  X: T
in  Scale: T
in  B: T ?
out Y: T
out Mean: U ?
out InvStdDev: U ?
attr stash_type: int = 1
attr epsilon: float = 9.99999975e-06
attr axis: int = -1
type T: @float_ir4
type U: float bfloat16)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LayerNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating,
                 .terms = terms,
                 .magnitude = magnitude,
                 .drift = drift},
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_LayerNormalization
