// Shapes and masks of Attention.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Sets the outputs' types and shapes as far as they are known. Throws Error when a rule is broken.
void infer_attention(InferContext& c);

/// An Attention node's inputs, checked. Keys and values include the past.
class AttentionPlan {
 public:
  explicit AttentionPlan(const EvalContext& c);

  int64_t batch, heads;
  int64_t queries, keys;  ///< sequence lengths
  double scale, softcap;
  bool by_sequence;                   ///< inputs and Y are [batch, sequence, heads * size]
  Tensor query;                       ///< [batch, heads, queries, head_size]
  Tensor present_key, present_value;  ///< [batch, key_heads, keys, size]

  /// The addends of a query's scores: the mask, and -infinity where causality, window or padding forbid.
  /// `out` has one number per key.
  void bias(int64_t b, int64_t head, int64_t query, double* out) const;

 private:
  void read_mask(const EvalContext& c);

  Tensor mask_;                        ///< float64, or undefined
  std::vector<int64_t> mask_strides_;  ///< for batch, head, query, key
  int64_t mask_keys_ = 0;              ///< the mask's keys; those beyond are forbidden
  std::vector<int64_t> offsets_;       ///< for each batch element, keys before the first query
  std::vector<int64_t> lengths_;       ///< for each batch element, keys that are not padding
  bool causal_;
  int64_t left_ = -1, right_ = -1;  ///< window; -1: unbounded
};

}  // namespace assay
