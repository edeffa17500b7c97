// RotaryEmbedding: rotates pairs of elements of every head by the angle of their position. position_ids are
// one number, the position of the first element of every sequence, or one for each.
#include "ops/contrib/rotary.h"
#include "ops/infer_util.h"
#include "ops/nn/heads.h"
#include "ops/op_list.h"

namespace assay::op_ms_RotaryEmbedding {
namespace {

void infer(InferContext& c) {
  const int rank = c.input_rank(0);
  c.check(rank < 0 || rank == 3 || rank == 4, "the input has {} dimensions where 3 or 4 are needed", rank);
  infer_same_as_input(c);
}

/// The heads of an input [batch, sequence, hidden]: the attribute, or as many as the tables make.
int64_t head_count(const EvalContext& c) {
  const int64_t heads = c.attr_int("num_heads", 0);
  if (heads > 0) return heads;
  c.check(c.attr_int("rotary_embedding_dim", 0) == 0, "attribute 'rotary_embedding_dim' needs 'num_heads'");
  const int64_t size = 2 * c.shape(2).back();
  c.check(size > 0 && c.shape(0)[2] % size == 0, "heads of {} elements do not divide the hidden size {}",
          size, c.shape(0)[2]);
  return c.shape(0)[2] / size;
}

std::vector<int64_t> positions(const EvalContext& c, int64_t batch, int64_t sequence) {
  std::vector<int64_t> out = c.input(1).to_int64();
  if (c.input(1).numel() != 1 || c.shape(1).size() == 2) {
    c.check(c.shape(1) == (Shape{batch, sequence}),
            "position_ids has shape {} where ({}, {}) or one number is needed", c.shape(1).str(), batch,
            sequence);
    return out;
  }
  const int64_t first = out[0];
  out.resize(static_cast<size_t>(batch * sequence));
  for (int64_t i = 0; i < batch * sequence; ++i) out[static_cast<size_t>(i)] = first + i % sequence;
  return out;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Shape& in = c.shape(0);
  c.check((in.size() == 3 || in.size() == 4) && c.shape(2).size() == 2,
          "an input of shape {} and tables of shape {} must have 3 or 4 and 2 dimensions", in.str(),
          c.shape(2).str());
  const bool by_sequence = in.size() == 3;
  const Traced given = steps.given(c.input(0));
  const Traced x = by_sequence ? split_heads(given, head_count(c)) : given;
  const Shape& s = x.value.shape();
  const RotaryTables tables{c.input(2), c.input(3), c.attr_int("interleaved", 0) != 0};
  const Traced y = rotate(steps, x, tables, positions(c, s[0], s[2]));
  outputs[0] = by_sequence ? join_heads(y) : y;
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  position_ids: M
in  cos_cache: T
in  sin_cache: T
out output: T
attr num_heads: int
attr rotary_embedding_dim: int
attr interleaved: int
attr is_packed_batching: int
attr scale: float
type T: float float16 bfloat16
type M: int64)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "RotaryEmbedding",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1, .of = 2}}},
        },
};

}  // namespace assay::op_ms_RotaryEmbedding
