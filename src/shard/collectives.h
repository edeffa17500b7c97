// Nodes that exchange tensors between devices, put into a graph.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "assay/graph.h"
#include "shard/hints.h"

namespace assay {

/// Names shard_0, shard_1, ... for values and nodes; those that the graph has already are passed over.
class ShardNames {
 public:
  explicit ShardNames(const Graph& graph);
  /// With a prefix: `<prefix>_shard_<n>`.
  std::string next(const std::string& prefix = {});

 private:
  std::unordered_set<std::string> taken_;
  int64_t count_ = 0;
};

/// Gives every node but the first of a name another name, with a warning.
void make_node_names_unique(Graph& graph, ShardNames& names);

enum class Collective : uint8_t { kAllGather, kAllReduce, kReduceScatter };

/// Adds DistCollective and Transpose nodes to the end of a graph (sort_topologically() it afterwards). Nobody
/// uses their results yet. Logs in Polygraphy's words.
class CollectiveAdder {
 public:
  CollectiveAdder(Graph& graph, const CollectiveHint& hint, ShardNames& names)
      : graph_(graph), hint_(hint), names_(names) {}

  /// What a collective operation along dimension `dim` makes of a value. NCCL knows only dimension 0, so for
  /// another one a Transpose goes before and after; for that the rank must be known, from the value's type or
  /// from `rank`. Throws Error (kInvalidArgument) when it is not known or is another than `rank`, when `dim`
  /// lies outside, and when a known extent cannot be divided for a reduce_scatter. The type of a value is
  /// taken for that of the whole, as the model has it, unless this has scattered the value.
  Value* collective(Collective what, Value* v, int64_t dim, const std::optional<int64_t>& rank);
  /// Throws Error (kInvalidArgument) when the permutation has not as many dimensions as the value.
  Value* transpose(Value* v, const Permutation& perm);

  /// What the collective operations gave: their types follow from no inference.
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

/// Swaps the names of two values, and what else the model says of an output: the second takes the first one's
/// place there.
void take_output_place(Value& output, Value& successor);

/// Remembers whether the shapes of a model were possible before it is sharded.
class ShapesBefore {
 public:
  explicit ShapesBefore(const Model& model);
  /// Infers the shapes of a sharded model that were declared for the whole anew, but for the values in
  /// `fixed`; what had no shape gets none. A shape that cannot be (a Reshape to the extents of the whole, a
  /// mask for the whole sequence) throws Error (kInvalidArgument) that names the node, unless the model had
  /// such a fault before.
  void update(Model& model, const std::unordered_set<const Value*>& fixed) const;

 private:
  bool was_possible_ = true;
};

}  // namespace assay
