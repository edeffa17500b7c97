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

/// Steps of one evaluation (an element read or written, a multiplication added), about a minute of one core.
inline constexpr int64_t kMaxFoldWork = int64_t{1} << 36;

struct FoldOptions {
  /// Compute Shape and Size of values whose extents are known, and what is picked out of them; let integer
  /// arithmetic that is wrapped in Casts to float and back work on the integers.
  bool fold_shapes = true;
  bool recurse_subgraphs = true;
  bool recurse_functions = true;
  /// Put the branch in place of an If whose condition is constant.
  bool flatten_subgraphs = true;
  /// A node that cannot be evaluated stays as it is and is reported; else its Error is thrown.
  bool error_ok = true;
  /// Results of more bytes stay computed. Without it: results that make the model larger by more than
  /// kMaxGrowth, compared with the constants that they replace.
  std::optional<int64_t> size_threshold;
  /// What takes more steps stays computed and is reported as failed; so does what takes more than half of the
  /// memory that is left (--memory-limit).
  int64_t max_work = kMaxFoldWork;
  /// Nodes for which it holds stay.
  std::function<bool(const Node&)> should_exclude_node;
};

/// The growth of one fold that is taken without being asked for. Bytes.
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
