// FlexAttention: prob_mod(softmax(score_mod(scale * Q K^T))) V for every head; neighbouring query heads share
// a key head. The two subgraphs change all scores, or all probabilities, together.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"
#include "tensor/convert.h"

namespace assay::op_preview_FlexAttention {
namespace {

constexpr const char* kNames[] = {"Q", "K", "V"};

/// Checks what is known of two extents that must be equal.
void check_equal(const InferContext& c, const Dim& a, const Dim& b, const char* what) {
  c.check(!a.is_known() || !b.is_known() || a.value() == b.value(), "{} differ: {} and {}", what, a.value(),
          b.value());
}

/// The type in which scores and probabilities are stored, which the subgraphs see.
DType score_type(const OpContext& c, DType input) {
  const int64_t number = c.attr_int("softmax_precision", 0);
  if (number == 0) return input == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const auto type = static_cast<DType>(number);
  c.check(is_known_dtype(number) && is_float(type) && bit_width(type) >= 16,
          "attribute 'softmax_precision' is {}; it must name a floating type of 16 bits or more", number);
  return type;
}

void infer_modifier(InferContext& c, const char* name, const Type& scores) {
  if (!c.has_attr(name)) return;
  const std::vector<Type> out = c.infer_subgraph(name, {scores});
  c.check(out.size() == 1, "the subgraph {} has {} outputs; it must have one", name, out.size());
}

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  for (size_t i = 0; i < 3; ++i)
    c.check(c.input_rank(i) < 0 || c.input_rank(i) == 4, "{} has rank {}; it must have 4", kNames[i],
            c.input_rank(i));
  const Dims *q = c.input_dims(0), *k = c.input_dims(1), *v = c.input_dims(2);
  if (k != nullptr && v != nullptr) {
    check_equal(c, (*k)[1], (*v)[1], "the heads of K and V");
    check_equal(c, (*k)[2], (*v)[2], "the lengths of K and V");
  }
  if (q != nullptr && k != nullptr) check_equal(c, (*q)[3], (*k)[3], "the head sizes of Q and K");
  Type scores = Type::tensor(score_type(c, dtype));
  if (q != nullptr) scores.dims = Dims{(*q)[0], (*q)[1], (*q)[2], k != nullptr ? (*k)[2] : Dim()};
  infer_modifier(c, "score_mod", scores);
  infer_modifier(c, "prob_mod", scores);
  if (q == nullptr) return c.set_output(0, dtype, Dims(4));
  c.set_output(0, dtype, {(*q)[0], (*q)[1], (*q)[2], v != nullptr ? (*v)[3] : Dim()});
}

/// The inputs as batches of matrices: query heads that share a key head have their own dimension.
struct Heads {
  explicit Heads(const EvalContext& c);

  Tensor q;      ///< [B, key heads, sharing heads, L, E]
  Tensor k, v;   ///< [B, key heads, 1, S, E or Ev]
  Shape scores;  ///< [B, heads, L, S]
  Shape output;  ///< [B, heads, L, Ev]
  double scale;
};

Heads::Heads(const EvalContext& c) {
  for (size_t i = 0; i < 3; ++i)
    c.check(c.shape(i).rank() == 4 && c.input(i).dtype() == DType::kFloat64,
            "{} is {} of shape {}; it must be floats of 4 dimensions", kNames[i],
            dtype_name(c.input(i).dtype()), c.shape(i).str());
  const Shape &sq = c.shape(0), &sk = c.shape(1), &sv = c.shape(2);
  c.check(sq[0] == sk[0] && sk[0] == sv[0] && sk[1] == sv[1] && sk[2] == sv[2] && sq[3] == sk[3],
          "the shapes {}, {} and {} of Q, K and V do not fit", sq.str(), sk.str(), sv.str());
  c.check(sk[1] > 0 && sq[1] % sk[1] == 0, "{} query heads cannot share {} key heads", sq[1], sk[1]);
  const int64_t shared = sq[1] / sk[1];
  q = c.input(0).reshaped({sq[0], sk[1], shared, sq[2], sq[3]});
  k = c.input(1).reshaped({sk[0], sk[1], 1, sk[2], sk[3]});
  v = c.input(2).reshaped({sv[0], sv[1], 1, sv[2], sv[3]});
  scores = {sq[0], sq[1], sq[2], sk[2]};
  output = {sq[0], sq[1], sq[2], sv[3]};
  check_output_size(DType::kFloat64, scores);
  scale = c.attr_float("scale", 1 / std::sqrt(static_cast<double>(sq[3])));
}

/// Runs the subgraph, if there is one, on scores or probabilities.
Tensor modified(EvalContext& c, const char* name, const Tensor& scores) {
  if (!c.has_attr(name)) return scores;
  const DType input = c.declared_dtype(0);
  const DType type = score_type(c, input == DType::kUndefined ? DType::kFloat32 : input);
  const std::vector<Tensor> out =
      c.subgraphs().run(c.attr_graph(name), {c.ideal ? scores : convert(scores, type)});
  c.check(out.size() == 1 && is_float(out[0].dtype()) && out[0].shape() == scores.shape(),
          "the subgraph {} must give one floating tensor of shape {}", name, scores.shape().str());
  return to_float64(out[0]);
}

/// The subgraph's result. Its own arithmetic is not examined: it counts as three roundings, and an error of
/// its inputs changes its result as much as the result changes when every input is larger by its error.
Traced traced(EvalContext& c, Steps& steps, const char* name, const Traced& in) {
  if (!c.has_attr(name)) return in;
  const Tensor y = modified(c, name, in.value);
  Traced out = steps.inexact(
      y, map_elements<double>(y, [](double v) { return std::isfinite(v) ? 3 * std::fabs(v) : 0; }));
  if (!steps.bounds()) return out;
  const auto sum = [](double a, double b) { return a + b; };
  const Tensor moved = modified(c, name, map_broadcast<double>(in.value, in.error, sum));
  const Tensor carried = map_broadcast<double>(moved, y, [](double m, double v) {
    return std::isfinite(v) && std::isfinite(m) ? std::fabs(m - v) : 0.0;
  });
  out.error = map_broadcast<double>(out.error, carried, sum);
  return out;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Heads h(c);
  const Traced products = steps.product(steps.given(h.q), steps.given(permuted(h.k, {0, 1, 2, 4, 3})));
  const auto as_scores = [&](const Tensor& t) { return t.reshaped(h.scores); };
  const Traced scores = traced(c, steps, "score_mod", Steps::move(steps.scale(products, h.scale), as_scores));
  const Traced p = traced(c, steps, "prob_mod", steps.softmax(scores));
  const auto by_key_heads = [&](const Tensor& t) {
    return t.reshaped({h.q.dim(0), h.q.dim(1), h.q.dim(2), t.dim(2), t.dim(3)});
  };
  const Traced y = steps.product(Steps::move(p, by_key_heads), steps.given(h.v));
  outputs[0] = Steps::move(y, [&](const Tensor& t) { return t.reshaped(h.output); });
}

using Fused = FusedOp<compute>;

constexpr OpVersion kVersions[] = {
    {1, R"(
in  Q: T1
in  K: T1
in  V: T1
out Y: T1
attr prob_mod: graph
attr score_mod: graph
attr softmax_precision: int
attr scale: float
type T1: @float_ir4)",
     infer, Fused::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.preview",
    .name = "FlexAttention",
    .versions = kVersions,
    .numerics = Fused::kNumerics,
};

}  // namespace assay::op_preview_FlexAttention
