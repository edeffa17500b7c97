// FlexAttention: prob_mod(softmax(score_mod(scale * Q K^T))) V for every head; neighbouring query heads share
// a key head. The two subgraphs change all scores, or all probabilities, at once.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"
#include "tensor/convert.h"

namespace assay {
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

/// The inputs as batches of matrices: query heads that share a key head lie in a dimension of their own.
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

/// a b of the heads' matrices, as a tensor of `shape`.
Tensor product(const Tensor& a, const Tensor& b, const Shape& shape) {
  return matrix_product(a, b).reshaped(shape);
}

Tensor score_product(const Tensor& q, const Tensor& k, const Shape& shape) {
  return product(q, permuted(k, {0, 1, 2, 4, 3}), shape);
}

/// Probabilities, or their errors, as the left operand of the product with the values.
Tensor by_key_heads(const Tensor& p, const Heads& h) {
  return p.reshaped({h.q.dim(0), h.q.dim(1), h.q.dim(2), p.dim(2), p.dim(3)});
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

/// Calls f(first, last) for ranges of rows of `keys` numbers, in parallel.
template <typename F>
void for_each_row(const Tensor& t, F f) {
  const int64_t keys = t.shape().back(), rows = keys == 0 ? 0 : t.numel() / keys;
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / 8 / std::max<int64_t>(keys, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r) f(r * keys, (r + 1) * keys);
               });
}

double largest(const double* x, int64_t first, int64_t last) {
  double found = -std::numeric_limits<double>::infinity();
  for (int64_t i = first; i < last; ++i)
    if (x[i] > found || std::isnan(x[i])) found = x[i];
  return found;
}

Tensor softmax(const Tensor& scores) {
  Tensor y = Tensor::allocate(DType::kFloat64, scores.shape());
  const double* x = scores.data<double>();
  double* p = y.mutable_data<double>();
  for_each_row(scores, [=](int64_t first, int64_t last) {
    const double shift = largest(x, first, last);
    double sum = 0;
    for (int64_t i = first; i < last; ++i) sum += p[i] = std::exp(x[i] - shift);
    for (int64_t i = first; i < last; ++i) p[i] /= sum;
  });
  return y;
}

void eval(EvalContext& c) {
  const Heads h(c);
  const double scale = h.scale;
  const Tensor products = score_product(h.q, h.k, h.scores);
  const Tensor scores =
      modified(c, "score_mod", map_elements<double>(products, [scale](double s) { return s * scale; }));
  const Tensor probabilities = modified(c, "prob_mod", softmax(scores));
  c.set_output(0, product(by_key_heads(probabilities, h), h.v, h.output));
}

Tensor magnitude(const Tensor& t) {
  return map_elements<double>(t, [](double x) { return std::fabs(x); });
}
Tensor sum(const Tensor& a, const Tensor& b) {
  return map_broadcast<double>(a, b, [](double x, double y) { return x + y; });
}

/// What an error in its input makes of a subgraph's output: the change, and three roundings of the output.
Tensor modified_errors(EvalContext& c, const char* name, const Tensor& in, const Tensor& out,
                       const Tensor& errors, double u) {
  if (!c.has_attr(name)) return errors;
  const Tensor moved = modified(c, name, sum(in, errors));
  return map_broadcast<double>(moved, out, [u](double m, double y) {
    return std::isfinite(y) && std::isfinite(m) ? std::fabs(m - y) + 3 * u * std::fabs(y) : 0.0;
  });
}

/// Errors of the probabilities p of scores with errors e: p (e + mean of e + u (n + |x - max| + library)).
Tensor softmax_errors(const Tensor& scores, const Tensor& p, const Tensor& errors, double u) {
  Tensor out = Tensor::allocate(DType::kFloat64, p.shape());
  const double *x = scores.data<double>(), *pp = p.data<double>(), *e = errors.data<double>();
  double* po = out.mutable_data<double>();
  for_each_row(scores, [=](int64_t first, int64_t last) {
    const double shift = largest(x, first, last);
    double mean = 0;
    for (int64_t i = first; i < last; ++i) mean += pp[i] * e[i];
    for (int64_t i = first; i < last; ++i) {
      const double roundings = static_cast<double>(last - first) + std::fabs(x[i] - shift) + kLibraryUlps;
      po[i] = pp[i] == 0 ? 0 : pp[i] * (e[i] + mean + u * roundings);
    }
  });
  return out;
}

/// First order: the scores' errors u (E + 3) |scale| |Q||K|^T go through the subgraphs and the softmax; Y has
/// what |V| makes of the probabilities' errors, and S u P |V|.
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  const Heads h(c);
  const double scale = h.scale, factor = u * std::fabs(scale) * static_cast<double>(h.q.dim(4) + 3);
  const auto times = [](const Tensor& t, double f) {
    return map_elements<double>(t, [f](double x) { return x * f; });
  };
  const Tensor plain = times(score_product(h.q, h.k, h.scores), scale);
  const Tensor plain_errors = times(score_product(magnitude(h.q), magnitude(h.k), h.scores), factor);
  const Tensor scores = modified(c, "score_mod", plain);
  const Tensor score_errors = modified_errors(c, "score_mod", plain, scores, plain_errors, u);
  const Tensor p = softmax(scores);
  const Tensor p_errors = softmax_errors(scores, p, score_errors, u);
  const Tensor probabilities = modified(c, "prob_mod", p);
  const Tensor errors = modified_errors(c, "prob_mod", p, probabilities, p_errors, u);
  const Tensor own = times(magnitude(probabilities), u * static_cast<double>(h.k.dim(3) + 1));
  return product(by_key_heads(sum(errors, own), h), magnitude(h.v), h.output);
}

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
     infer, eval},
};

}  // namespace

constinit const OpDef op_preview_FlexAttention = {
    .domain = "ai.onnx.preview",
    .name = "FlexAttention",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay
