// RotaryEmbedding: rotates pairs of elements of every head by the angle of their position: (a, b) to
// (cos a - sin b, sin a + cos b). A pair is two neighbours (interleaved) or one element of each half.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_RotaryEmbedding {
namespace {

void infer(InferContext& c) {
  const int rank = c.input_rank(0);
  c.check(rank < 0 || rank == 3 || rank == 4, "the input has {} dimensions where 3 or 4 are needed", rank);
  c.check(rank != 3 || c.attr_int("num_heads", 0) > 0,
          "an input of 3 dimensions needs the attribute 'num_heads'");
  infer_same_as_input(c);
}

struct Plan {
  int64_t batch, heads, sequence, head_size;
  int64_t rotated;   ///< leading elements of a head that are rotated
  bool by_sequence;  ///< [batch, sequence, heads * head_size] instead of [batch, heads, sequence, head_size]
  /// The position of a head's element 0.
  int64_t offset(int64_t b, int64_t h, int64_t s) const {
    return (by_sequence ? (b * sequence + s) * heads + h : (b * heads + h) * sequence + s) * head_size;
  }
};

Plan make_plan(const EvalContext& c) {
  const Shape& in = c.shape(0);
  c.check(in.size() == 3 || in.size() == 4, "the input has shape {} where 3 or 4 dimensions are needed",
          in.str());
  Plan p{.batch = in[0], .by_sequence = in.size() == 3};
  if (p.by_sequence) {
    p.heads = c.attr_int("num_heads", 0);
    c.check(p.heads > 0, "an input of 3 dimensions needs the attribute 'num_heads'");
    c.check(in[2] % p.heads == 0, "{} heads do not divide the hidden size {}", p.heads, in[2]);
    p.sequence = in[1];
    p.head_size = in[2] / p.heads;
  } else {
    p.heads = in[1];
    p.sequence = in[2];
    p.head_size = in[3];
  }
  p.rotated = c.attr_int("rotary_embedding_dim");
  if (p.rotated == 0) p.rotated = p.head_size;
  c.check(p.rotated >= 0 && p.rotated <= p.head_size && p.rotated % 2 == 0,
          "{} elements of a head of {} cannot turn in pairs", p.rotated, p.head_size);
  return p;
}

/// The row of the caches for every (batch, sequence).
std::vector<int64_t> cache_rows(const EvalContext& c, const Plan& p) {
  const int64_t half = p.rotated / 2, count = p.batch * p.sequence;
  const Shape& cache = c.shape(1);
  c.check(cache == c.shape(2), "the caches have shapes {} and {}", cache.str(), c.shape(2).str());
  if (!c.has_input(3)) {
    c.check(cache == (Shape{p.batch, p.sequence, half}),
            "the caches have shape {} where ({}, {}, {}) is needed", cache.str(), p.batch, p.sequence, half);
    std::vector<int64_t> rows(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) rows[static_cast<size_t>(i)] = i;
    return rows;
  }
  c.check(cache.size() == 2 && cache[1] == half, "the caches have shape {} where (positions, {}) is needed",
          cache.str(), half);
  c.check(c.shape(3) == (Shape{p.batch, p.sequence}), "position_ids has shape {} where ({}, {}) is needed",
          c.shape(3).str(), p.batch, p.sequence);
  std::vector<int64_t> rows = c.input(3).to_int64();
  for (const int64_t row : rows)
    c.check(row >= 0 && row < cache[0], "position {} is outside the {} positions of the caches", row,
            cache[0]);
  return rows;
}

void compute(EvalContext& c, bool magnitude) {
  const Plan p = make_plan(c);
  const std::vector<int64_t> rows = cache_rows(c, p);
  const bool interleaved = c.attr_int("interleaved") != 0;
  const int64_t half = p.rotated / 2, step = interleaved ? 2 : 1, apart = interleaved ? 1 : half;
  Tensor y = c.input(0);
  double* py = y.mutable_data<double>();
  const double *cosines = c.input(1).data<double>(), *sines = c.input(2).data<double>();
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t s = 0; s < p.sequence; ++s) {
        const int64_t row = rows[static_cast<size_t>(b * p.sequence + s)] * half;
        double* head = py + p.offset(b, h, s);
        for (int64_t i = 0; i < half; ++i) {
          double &x = head[i * step], &z = head[i * step + apart];
          const double cosine = cosines[row + i], sine = sines[row + i], a = x, d = z;
          x = magnitude ? std::fabs(cosine * a) + std::fabs(sine * d) : cosine * a - sine * d;
          z = magnitude ? std::fabs(sine * a) + std::fabs(cosine * d) : sine * a + cosine * d;
        }
        if (magnitude)
          for (int64_t i = p.rotated; i < p.head_size; ++i) head[i] = std::fabs(head[i]);
      }
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) { compute(c, false); }
void magnitude(EvalContext& c) { compute(c, true); }
int64_t terms(EvalContext&) { return 1; }

constexpr OpVersion kVersions[] = {
    {23, R"(
in  X: T
in  cos_cache: T
in  sin_cache: T
in  position_ids: M ?
out Y: T
attr num_heads: int
attr rotary_embedding_dim: int = 0
attr interleaved: int = 0
type T: float float16 bfloat16
type M: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "RotaryEmbedding",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 3, .of = 1}}},
        },
};

}  // namespace assay::op_onnx_RotaryEmbedding
