// The masks of Attention, QAttention and MultiHeadAttention: which keys a query may attend to.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// A mask of int32 in one of these shapes, where B is the batch, S the queries and T the keys with the past:
///   [B]            how many keys of each batch element are not padding; those before come first
///   [2 * B]        the ends (exclusive) of what is not padding, then the starts
///   [3 * B + 2]    lengths of the keys, then cumulated lengths that are not needed here
///   [B, T], [B, S, T]  0 where a key is masked
///   [B, 1, M, M]   the same for a longest sequence M; the rows of the queries are the last before T
///   [B, 1], [1, 1] no mask
/// A masked key's score gets the attribute mask_filter_value, -10000 by default, added: it loses against any
/// other, but keys that are all masked share the attention. With `causal`, a query attends to no key after
/// its own position; the last query is at the last key.
class KeyMask {
 public:
  /// Reads input i; no mask when it is left out. Throws Error when its shape is none of those.
  KeyMask(const EvalContext& c, size_t i, bool causal, int64_t batch, int64_t queries, int64_t keys);

  /// Adds to the scores of one query.
  void add(int64_t batch, int64_t query, double* scores) const;

 private:
  enum class Form : uint8_t { kNone, kLengths, kEndsAndStarts, kMatrix };

  void read_vector(const EvalContext& c, size_t i);
  void read_matrix(const EvalContext& c, size_t i);

  Form form_ = Form::kNone;
  bool causal_;
  int64_t batch_, queries_, keys_;
  std::vector<int64_t> values_;
  int64_t offset_ = 0, batch_stride_ = 0, query_stride_ = 0;  ///< kMatrix
  double filter_;
};

/// A bias [B or 1, heads or 1, S, T] of the scores in an optional input.
class ScoreBias {
 public:
  /// Throws Error when it does not broadcast to `scores`, [B, heads, S, T].
  ScoreBias(const EvalContext& c, size_t i, const Shape& scores);
  void add(int64_t batch, int64_t head, int64_t query, double* scores) const;

 private:
  Tensor bias_;
  std::vector<int64_t> strides_;
  int64_t keys_ = 0;
};

}  // namespace assay
