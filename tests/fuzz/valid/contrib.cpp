// Operators of com.microsoft that take indices, lengths and masks, which the engine takes apart into standard
// ones.
#include "fuzz/valid/recipes.h"

namespace assay::fuzz {
namespace {

/// Most of them have kernels for these only.
void common_floats(Draft& d, const char* constraint = "T") { d.choose(constraint, {DType::kFloat32}); }

}  // namespace

void make_contrib_rotary(Draft& d) {
  common_floats(d);
  const int64_t b = d.positive(2), n = d.positive(3), length = d.positive(3), head = 2 * d.positive(3),
                places = length + d.r.between(0, 3);
  const bool flat = d.r.chance(50);
  d.input("input", flat ? Shape{b, length, n * head} : Shape{b, n, length, head}, -1, 1);
  if (flat) d.attr("num_heads", n);
  d.input("cos_cache", Shape{places, head / 2}, -1, 1);
  d.input("sin_cache", Shape{places, head / 2}, -1, 1);
  if (d.r.chance(70))
    d.input("position_ids", d.integers(DType::kInt64, {b, length}, 0, places - 1));
  else
    d.input("position_ids", d.integers(DType::kInt64, {1}, 0, places - length));
  d.flag("interleaved");
}

void make_embedding(Draft& d) {
  common_floats(d);
  const int64_t b = d.positive(2), length = d.positive(4), words = d.positive(5),
                places = length + d.r.between(0, 2), hidden = d.positive(6);
  d.input("input_ids", d.integers(DType::kInt32, {b, length}, 0, words - 1));
  d.input("word_embedding", Shape{words, hidden});
  d.input("position_embedding", Shape{places, hidden});
  if (d.r.chance(50)) {
    const int64_t segments = d.positive(3);
    d.input("segment_ids", d.integers(DType::kInt32, {b, length}, 0, segments - 1));
    d.input("segment_embedding", Shape{segments, hidden});
  }
  d.input("gamma", Shape{hidden});
  d.input("beta", Shape{hidden});
  if (d.r.chance(40)) d.input("mask", d.integers(DType::kInt32, {b, length}, 0, 1));
  if (d.r.chance(40)) d.input("position_ids", d.integers(DType::kInt32, {b, length}, 0, places - 1));
  d.outputs = d.r.chance(50) ? 2 : 1;
}

void make_self_attention(Draft& d) {
  common_floats(d);
  const int64_t b = d.positive(2), length = d.positive(4), heads = d.positive(3), head = d.positive(4),
                in = d.positive(5), size = heads * head;
  d.input("input", Shape{b, length, in}, -1, 1);
  d.input("weights", Shape{in, 3 * size}, -1, 1);
  d.maybe_input("bias", {3 * size}, 60, -1, 1);
  d.attr("num_heads", heads);
  switch (d.r.below(3)) {
    case 0:
      d.input("mask_index", d.integers(DType::kInt32, {b, length}, 0, 1));
      break;
    case 1:
      d.input("mask_index", d.integers(DType::kInt32, {b}, 0, length));
      break;
    default:
      break;
  }
  d.flag("unidirectional");
  d.outputs = 1;
}

void make_multi_head(Draft& d) {
  common_floats(d);
  const int64_t b = d.positive(2), queries = d.positive(3), keys = d.positive(4), heads = d.positive(3),
                size = heads * d.positive(4);
  d.input("query", Shape{b, queries, size}, -1, 1);
  d.input("key", Shape{b, keys, size}, -1, 1);
  d.input("value", Shape{b, keys, size}, -1, 1);
  d.maybe_input("bias", {3 * size}, 30, -1, 1);
  d.attr("num_heads", heads);
  if (d.r.chance(40))
    d.input("key_padding_mask", d.integers(DType::kInt32, {b, keys}, 0, 1));
  else if (d.r.chance(50))
    d.input("key_padding_mask", d.integers(DType::kInt32, {b}, 0, keys));
  d.outputs = 1;
}

void make_group_query(Draft& d) {
  common_floats(d);
  d.choose("T_CACHE", {DType::kFloat32});
  const int64_t b = d.positive(2), length = d.positive(3), groups = d.positive(2),
                heads = groups * d.positive(2), head = 8 * d.positive(2), total = length;
  d.input("query", Shape{b, length, heads * head}, -1, 1);
  d.input("key", Shape{b, length, groups * head}, -1, 1);
  d.input("value", Shape{b, length, groups * head}, -1, 1);
  d.attr("num_heads", heads);
  d.attr("kv_num_heads", groups);
  d.input("seqlens_k", d.integers(DType::kInt32, {b}, total - 1, total - 1));
  d.input("total_sequence_length", d.integers(DType::kInt32, {}, total, total));
  d.outputs = 1;
}

void make_expand_dims(Draft& d) {
  const Shape s = d.shape(0, 3);
  d.input("X", s);
  d.input("axis", d.integers(DType::kInt32, {}, -s.rank() - 1, s.rank()));
}

void make_contrib_pad(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  d.input("data", s);
  d.input("pads", d.integers(DType::kInt64, {2 * s.rank()}, 0, 2));
  d.word("mode", {"constant", "edge"});
}

void make_block_gather(Draft& d) {
  d.choose("T1", {DType::kUInt8});
  d.choose("T2", {DType::kFloat32});
  const int64_t rows = d.positive(5), count = d.positive(3);
  d.input("data", d.integers(DType::kUInt8, {rows, 32}, 0, 255));
  d.input("indices", d.integers(DType::kInt64, {count}, -rows, rows - 1));
  d.input("scales", Shape{rows, 2}, 0.5, 2);
  d.attr("bits", int64_t{8});
  d.attr("block_size", int64_t{16});
}

void make_ngram_block(Draft& d) {
  const int64_t b = d.positive(2), length = d.positive(6), words = d.positive(5);
  d.input("input_ids", d.integers(DType::kInt64, {b, length}, 0, words - 1));
  d.input("scores", Shape{b, words});
  d.attr("ngram_size", d.positive(3));
}

void make_contrib_trilu(Draft& d) {
  d.input("X", d.shape(2, 3));
  if (d.r.chance(70)) d.input("k", d.integers(DType::kInt64, {}, -3, 3));
  d.flag("upper");
}

}  // namespace assay::fuzz
