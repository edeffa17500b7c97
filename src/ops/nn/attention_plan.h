// Shapes and masks of Attention.
#pragma once

#include "kernels/gemm.h"
#include "ops/op_context.h"

namespace assay {

/// Sets the outputs' types and shapes as far as they are known. Throws Error when a rule is broken.
void infer_attention(InferContext& c);

/// An Attention node's inputs, checked. Keys and values include the past.
class AttentionPlan {
 public:
  explicit AttentionPlan(const EvalContext& c);

  int64_t batch, heads, key_heads;
  int64_t queries, keys;          ///< sequence lengths
  int64_t head_size, value_size;  ///< of queries and keys, of values
  double scale, softcap;
  Tensor present_key, present_value;  ///< [batch, key_heads, keys, size]

  /// The rows of queries of a head, from `first` on.
  kernels::MatrixView query_rows(int64_t b, int64_t head, int64_t first) const;
  /// A key head's keys transposed: [head_size, keys].
  kernels::MatrixView key_columns(int64_t b, int64_t head) const;
  kernels::MatrixView values(int64_t b, int64_t head) const;
  /// What is added to a query's scores: the mask, and -infinity where causality, window or padding forbid.
  /// `out` has one number per key. Returns false when every key is forbidden.
  bool bias(int64_t b, int64_t head, int64_t query, double* out) const;

  Shape output_shape() const;
  /// Where row (b, head, query) of output Y begins, and the distance from one query's row to the next.
  int64_t output_offset(int64_t b, int64_t head, int64_t query) const;
  int64_t output_stride() const;

 private:
  void read_mask(const EvalContext& c);

  Tensor query_;
  bool by_sequence_;                   ///< 3-D inputs: [batch, sequence, heads * size]
  Tensor mask_;                        ///< float64, or undefined
  std::vector<int64_t> mask_strides_;  ///< for batch, head, query, key
  int64_t mask_keys_ = 0;              ///< the mask's keys; those beyond are forbidden
  std::vector<int64_t> offsets_;       ///< for each batch element, keys before the first query
  std::vector<int64_t> lengths_;       ///< for each batch element, keys that are not padding
  bool causal_;
  int64_t left_ = -1, right_ = -1;  ///< window; -1: unbounded
};

}  // namespace assay
