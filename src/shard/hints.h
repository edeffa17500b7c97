// Sharding hints: how a model is to be split over devices. What `template shard-hints` writes and
// `multi-device shard` reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Parallelism : uint8_t {
  kContext,  ///< CP: every rank has a part of the sequence
  kTensor,   ///< TP: every rank has a part of the weights
};

/// Reductions that a reduce_scatter may do.
inline constexpr std::array<std::string_view, 5> kReduceOps = {"sum", "prod", "min", "max", "avg"};

/// No tensor of a model has more dimensions.
inline constexpr int64_t kMaxHintRank = 1024;

/// What the collective operations of a model have in common.
struct CollectiveHint {
  int64_t group_size = 0;  ///< devices that take part; 0: all
  int64_t root = -1;
  int64_t nb_rank = 1;  ///< devices in all
  std::string reduce_op = "max";
  std::vector<int64_t> groups;  ///< NCCL groups; empty: all

  /// Devices that share one sequence.
  int64_t ranks() const { return group_size > 0 ? group_size : nb_rank; }
};

using Permutation = std::vector<int64_t>;

/// One Attention node in the place of a layer's MatMul, Softmax and MatMul.
struct FusedAttention {
  bool is_causal = false;
  std::optional<Permutation> q_shuffle, k_shuffle, v_shuffle;  ///< transposes before the node
  int64_t nb_rank = 1;
};

/// An attention layer, known by its tensor q.
struct AttentionLayerHint {
  std::string q;
  bool gather_kv = true, gather_q = false;
  std::optional<FusedAttention> replace;
};

/// An input or output of the model that has a sequence dimension.
struct ShardTensor {
  std::string name;
  int64_t seq_len_idx = 0;
  std::optional<int64_t> rank;  ///< nothing: the model says it
};

struct ShardHints {
  Parallelism parallelism = Parallelism::kContext;
  std::vector<AttentionLayerHint> attention_layers;
  CollectiveHint dist_collectives;
  std::vector<ShardTensor> inputs, outputs;
  int64_t k_seq_len_idx = 0, v_seq_len_idx = 0;
  std::optional<int64_t> kv_rank;
};

/// CP or TP.
std::string_view parallelism_name(Parallelism p);

/// The JSON of Polygraphy 0.53.
std::string hints_text(const ShardHints& hints);
/// Throws Error (kIo).
void save_hints(const ShardHints& hints, const std::string& path);

/// Reads the form of Polygraphy 0.53, and that of 0.49, of which a line warns; `file` is what errors call it.
/// Throws Error (kInvalidArgument) with line and column for text that is no JSON, fields of another kind,
/// values that mean nothing (a negative dimension, an unknown reduction, a shuffle that is no permutation),
/// and fields that are missing.
ShardHints parse_hints(std::string_view text, const std::string& file);
/// The same of a file. Throws also kNotFound and kIo.
ShardHints load_hints(const std::string& path);

}  // namespace assay
