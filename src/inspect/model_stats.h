// What a model costs: parameters, multiply-accumulates, activation memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/count.h"

namespace assay {

/// One node, of whatever depth.
struct LayerStats {
  std::string name;        ///< the node's name, or its first output's; behind `node/attribute/` in a subgraph
  std::string op_type;     ///< with its domain, as com.example::Op, unless that is ai.onnx
  std::string output;      ///< type of the first output: float32[1, 64, h, w]
  int64_t parameters = 0;  ///< elements of the weights that no earlier layer uses
  Count macs;              ///< for one run of the graph that holds the node
  Count output_bytes;      ///< the same
  Count times = 1;  ///< how often that graph runs: the product of the trip counts of the loops around it
  bool is_counted = true;  ///< false in the branch of an If that costs less than another
};

/// The layers of one operator together, all their runs counted.
struct OperatorStats {
  std::string op_type;
  int64_t nodes = 0;  ///< those in branches that are not counted included
  int64_t parameters = 0;
  Count macs;
  Count output_bytes;
};

struct ModelStats {
  std::string name;
  int64_t nodes = 0;  ///< in subgraphs too
  /// Elements of the floating-point constants, and of the integers that are weights of quantized operators.
  int64_t parameters = 0;
  int64_t constant_bytes = 0;  ///< of every constant
  Count macs;
  Count activation_bytes;  ///< everything that is computed, and the inputs
  /// The most that is alive at once when nodes run in order, nothing is computed in place and a value goes
  /// after its last use; inputs and outputs included, constants not.
  Count peak_bytes;
  bool peak_is_bound = false;      ///< which moment is the worst depends on symbols: peak_bytes covers each
  std::vector<LayerStats> layers;  ///< in the order of execution, subgraphs after their node
  std::vector<OperatorStats> operators;  ///< in the order of the first use
  std::vector<std::string> notes;  ///< what the counts rest on: branches, trip counts, unknown operators
};

/// Counts. Calls of local functions should be inlined and types inferred before; where they are not known,
/// the counts have unknown parts. Only the structure is looked at, and single elements such as a trip count.
/// Throws Error when subgraphs nest deeper than kMaxGraphDepth.
ModelStats model_stats(const Model& model);

/// The totals, the notes, a table of operators and, with `layers`, one of layers. Texts that symbols make long
/// stand below the tables, under numbers.
std::string stats_text(const ModelStats& stats, bool layers);

/// The same as JSON: counts are numbers, or texts where they depend on symbols.
std::string stats_json(const ModelStats& stats);

}  // namespace assay
