// Attention in one pass: scores, masks, softmax and the sum of values for a block of rows at a time, so that
// the scores of all rows are never in memory together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels {

/// The layout of the rows of [batch, heads, positions, size]: strides in elements.
struct AttentionRows {
  int64_t batch = 0, head = 0, row = 0, element = 1;
};

/// The steps after scaling the scores [batch, heads, queries, keys].
struct AttentionMask {
  enum class Kind : uint8_t {
    kAdded,  ///< float32 numbers are added
    kHides,  ///< of bytes that are bools: where one is `when`, the score becomes `fill`
  };
  Kind kind = Kind::kAdded;
  bool when = true;
  float fill = 0;
  /// Strides in elements, 0 where it repeats; that of keys is 0 or 1.
  int64_t batch = 0, head = 0, query = 0, key = 0;
  /// This many of the batch have their own masks, then they repeat; 0: all have.
  int64_t period = 0;
};

/// result = softmax(masks(scale * query key^T)) value.
struct Attention {
  int64_t batch = 1, heads = 1;
  /// Heads of keys and values, each shared by heads / groups neighbouring heads of queries.
  int64_t groups = 1;
  int64_t queries = 1, keys = 1;
  int64_t size = 1, value_size = 1;  ///< of a query and a key; of a value
  float scale = 1;
  AttentionRows query, key, value, result;  ///< query and result: neighbouring elements
  std::vector<AttentionMask> masks;         ///< in the order in which they are applied
};

/// Keys and elements beyond the actual ones that scratch memory has room for.
inline constexpr int64_t kMaxAttentionPadding = 1024;
/// Scratch memory that attention() needs for this many threads, in bytes.
int64_t attention_scratch(const Attention& a, int64_t threads);

/// Every extent is at least 1. Sums are float32; a row whose scores are all -infinity, or with a NaN among
/// them, becomes NaN as the formula says. `masks` has one pointer for each of a.masks. No bit of the result
/// depends on `threads`.
void attention(const Attention& a, const float* query, const float* key, const float* value,
               std::span<const void* const> masks, float* result, void* scratch, int64_t threads) noexcept;

}  // namespace assay::kernels
