// Scaled dot-product attention of many heads: shared by
// Attention and com.microsoft's attention operators.
#pragma once

#include <functional>
#include <optional>

#include "ops/numerics/steps.h"

namespace assay {

/// [batch, sequence, heads * size] to [batch, heads, sequence, size]. Throws Error when the heads do not
/// divide the last extent.
Traced split_heads(const Traced& x, int64_t heads);
/// And back.
Traced join_heads(const Traced& x);
/// Elements [first, first + count) of the last dimension.
Traced columns(const Traced& x, int64_t first, int64_t count);
/// The part of a cache of keys or values that attention reads, and the cache afterwards.
struct Cache {
  Traced rows;     ///< [batch, heads, total, size]
  Traced present;  ///< the same, or the whole buffer
};
/// Rows `added` [batch, heads, rows, size] after those of `past`, which may be undefined. With `length`, the
/// past is a buffer of which that many rows are in use, and the new ones go after them into the buffer.
/// Throws Error when they do not fit.
Cache extend_cache(Steps& steps, const Tensor& past, std::optional<int64_t> length, const Traced& added);

/// Queries [batch, heads, queries, size], keys [batch, key heads, keys, size] and values [batch, key heads,
/// keys, value size]; heads of queries share keys in groups.
struct HeadsInput {
  Traced query, key, value;
  double scale = 1;
  double softcap = 0;    ///< scores become softcap * tanh(score / softcap); 0: they stay
  double softmax_u = 0;  ///< unit roundoff of the softmax, where that of the steps is finer
  /// Adds to the scores of one query, one number per key; -infinity forbids a key. Null: nothing.
  std::function<void(int64_t batch, int64_t head, int64_t query, double* scores)> bias;
  /// One extra score for each head in the softmax; empty: none.
  std::vector<double> sinks;
  /// The content of the result's `scores`.
  enum class Show : uint8_t { kNothing, kProducts, kCapped, kBiased, kProbabilities } show = Show::kNothing;
};

struct HeadsOutput {
  Traced output;  ///< [batch, queries, heads * value size]
  Traced scores;  ///< [batch, heads, queries, keys], or undefined
};

/// softmax(scale * Q K^T, capped, + bias) V. A query that may attend to nothing gives zeros. Throws Error
/// when shapes do not go together.
HeadsOutput attend(Steps& steps, const HeadsInput& in);

/// The attribute `scale`, or 1 / sqrt(size) when it is 0 or left out.
double attention_scale(const OpContext& c, int64_t size);

}  // namespace assay
