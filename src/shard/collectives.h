// Nodes that exchange tensors between devices, put into a graph.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "assay/graph.h"
#include "shard/hints.h"

namespace assay {

/// Names shard_0, shard_1, ... for values and nodes; existing ones are skipped.
class ShardNames {
 public:
  explicit ShardNames(const Graph& graph);
  /// With a prefix: `<prefix>_shard_<n>`.
  std::string next(const std::string& prefix = {});

 private:
  std::unordered_set<std::string> taken_;
  int64_t count_ = 0;
};

/// Renames every node but the first of a name, with a warning.
void make_node_names_unique(Graph& graph, ShardNames& names);

enum class Collective : uint8_t { kAllGather, kAllReduce, kReduceScatter };

/// Adds DistCollective and Transpose nodes to the end of a graph (sort_topologically() it afterwards). Their
/// results are not used yet. Logs in Polygraphy's words.
class CollectiveAdder {
 public:
  CollectiveAdder(Graph& graph, const CollectiveHint& hint, ShardNames& names)
      : graph_(graph), hint_(hint), names_(names) {}

  /// The result of a collective operation on a value along dimension `dim`. NCCL supports only dimension 0,
  /// so other ones need a Transpose before and after; for that the rank must be known, from the value's type
  /// or from `rank`. Throws Error (kInvalidArgument) when it is not known or is another than `rank`, when
  /// `dim` is out of range, and when a known extent cannot be divided for a reduce_scatter. The type of a
  /// value is assumed to be that of the whole, as in the model, unless this has scattered it.
  Value* collective(Collective what, Value* v, int64_t dim, const std::optional<int64_t>& rank);
  /// Throws Error (kInvalidArgument) when the permutation has not as many dimensions as the value.
  Value* transpose(Value* v, const Permutation& perm);

  /// Results of collective operations, whose types cannot be inferred.
  const std::unordered_set<const Value*>& results() const { return results_; }

 private:
  void require_divisible(const Value& v, int64_t dim) const;
  Value* bare_collective(Collective what, Value* v);
  std::optional<Dims> changed_dims(Collective what, const Value& v) const;
  Value* add(const char* op_type, Value* v, AttributeList attributes, std::optional<Dims> dims);

  Graph& graph_;
  const CollectiveHint& hint_;
  ShardNames& names_;
  std::unordered_set<const Value*> results_;
  std::unordered_set<const Value*> scattered_;  ///< whose types are those of a part
};

/// Swaps the names of two values, and other properties
/// of an output: the second replaces the first there.
void take_output_place(Value& output, Value& successor);

/// Records whether the shapes of a model were consistent before sharding.
class ShapesBefore {
 public:
  explicit ShapesBefore(const Model& model);
  /// Infers again the shapes of a sharded model that were declared for the whole, except values in `fixed`;
  /// values without a shape get none. An inconsistent shape (a Reshape to the extents of the whole, a mask
  /// for the whole sequence) throws Error (kInvalidArgument) naming the node, unless the model was
  /// inconsistent before.
  void update(Model& model, const std::unordered_set<const Value*>& fixed) const;

 private:
  bool was_possible_ = true;
};

}  // namespace assay
