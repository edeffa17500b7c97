// Constant folding with the semantics of ONNX-GraphSurgeon's Graph.fold_constants().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"

namespace ASSAY_API assay {

/// Limit of steps in one evaluation (an element read or written, a multiply-add), about a minute of one core.
inline constexpr int64_t kMaxFoldWork = int64_t{1} << 36;

struct FoldOptions {
  /// Fold Shape and Size of values whose extents are known, and selections from them; replace integer
  /// arithmetic that is wrapped in Casts to float and back by arithmetic on the integers.
  bool fold_shapes = true;
  bool recurse_subgraphs = true;
  bool recurse_functions = true;
  /// Replace an If whose condition is constant by its branch.
  bool flatten_subgraphs = true;
  /// A node that cannot be evaluated is kept and reported; otherwise its Error is thrown.
  bool error_ok = true;
  /// Larger results are not folded. Bytes. Default: not those that make the model larger by more than
  /// kMaxGrowth, compared with the constants that they replace.
  std::optional<int64_t> size_threshold;
  /// Nodes that take more steps are not folded and reported as failed, like those that take more than half
  /// of the remaining memory (--memory-limit).
  int64_t max_work = kMaxFoldWork;
  /// Nodes for which it returns true are not folded.
  std::function<bool(const Node&)> should_exclude_node;
};

/// The largest growth by one fold that is accepted by default. Bytes.
inline constexpr int64_t kMaxGrowth = int64_t{4} << 20;

struct FoldReport {
  struct Kept {
    std::string node;    ///< Node::label()
    std::string reason;  ///< a sentence
  };
  int64_t folded_nodes = 0;  ///< whose results are constants now
  int64_t flattened_ifs = 0;
  int64_t elided_casts = 0;
  std::vector<Kept> too_large;  ///< could have been folded, but the result is too large
  std::vector<Kept> failed;     ///< could not be evaluated
};

/// Turns values that do not depend on graph inputs into constants. The nodes that computed them stay, without
/// outputs, until cleanup(), as in GraphSurgeon. Nodes are evaluated one by one as the reference does (stored
/// types), so a failure concerns one node only and GraphSurgeon's partitioning has no counterpart. Never
/// folded: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, random operators, nodes with attributes
/// that refer to a function's parameters, unknown operators. The order of nodes does not matter.
FoldReport fold_constants(Model& model, const FoldOptions& options = {});

}  // namespace assay
