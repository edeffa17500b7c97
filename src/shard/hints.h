// Sharding hints: how to split a model over devices. `template shard-hints` writes them and `multi-device
// shard` reads them.
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

/// Settings common to a model's collective operations.
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

/// One Attention node that replaces a layer's MatMul, Softmax and MatMul.
struct FusedAttention {
  bool is_causal = false;
  std::optional<Permutation> q_shuffle, k_shuffle, v_shuffle;  ///< transposes before the node
  int64_t nb_rank = 1;
};

/// An attention layer, identified by its tensor q.
struct AttentionLayerHint {
  std::string q;
  bool gather_kv = true, gather_q = false;
  std::optional<FusedAttention> replace;
};

/// An input or output of the model that has a sequence dimension.
struct ShardTensor {
  std::string name;
  int64_t seq_len_idx = 0;
  std::optional<int64_t> rank;  ///< nothing: taken from the model
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

/// Reads the format of Polygraphy 0.53, and that of 0.49 with a warning; `file` is
/// the name in errors. Throws Error (kInvalidArgument) with line and column for
/// invalid JSON, fields of another kind, invalid values (a negative dimension, an
/// unknown reduction, a shuffle that is not a permutation), and missing fields.
ShardHints parse_hints(std::string_view text, const std::string& file);
/// The same of a file. Throws also kNotFound and kIo.
ShardHints load_hints(const std::string& path);

}  // namespace assay
