// The reference interpreter: walks a graph and evaluates every node, in float64 or rounding as the stored
// types do.
//
// It can carry several lanes through one walk. Lane 0 is the reference. A noisy lane adds to every rounded
// result a random error within the bound that the operator's own arithmetic allows (Monte Carlo arithmetic):
// the spread of the lanes is what rounding explains. docs/numerics.md describes the model and its limits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/graph.h"
#include "reference/evaluate.h"
#include "reference/foreign_nodes.h"

namespace assay {

struct InterpreterOptions {
  ReferencePrecision precision = ReferencePrecision::kFloat64;
  int noisy_lanes = 0;  ///< only with kFloat64
  uint64_t seed = 1;    ///< of the noise
  /// Steps (ops/work.h) that a run may take; what needs more throws Error (kUnsupported).
  int64_t max_work = INT64_MAX;
  /// Evaluates the nodes whose operators are unknown; null: they are an error.
  std::shared_ptr<ForeignNodes> foreign;
};

/// Evaluates a model node by node. A value lives until its last use; constants are converted when they are
/// used.
class Interpreter {
 public:
  /// Binds every node; the model's shapes must have been inferred. Throws Error naming the first node that
  /// cannot be evaluated, and when subgraphs nest deeper than onnx::kMaxGraphDepth.
  explicit Interpreter(std::shared_ptr<const Model> model, const InterpreterOptions& options = {});
  ~Interpreter();

  /// Receives a value as soon as it is computed, one tensor (or container) a lane; floats are float64 under
  /// kFloat64.
  using Observer = std::function<void(const Value&, std::span<const Tensor> lanes)>;
  /// `inputs` in the order of the graph's inputs, stored types. Calls `observer` once for each value of
  /// `wanted` (graph outputs when empty), in topological order; graph inputs and constants among them come
  /// first. Throws Error naming the node.
  void run(std::span<const Tensor> inputs, const Observer& observer,
           std::span<const Value* const> wanted = {});

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
