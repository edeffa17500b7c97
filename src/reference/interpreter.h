// The reference interpreter: walks a graph and evaluates every node, in float64 or rounding as the stored
// types do.
//
// It can carry several lanes through one walk. Lane 0 is the reference. A noisy lane adds to every rounded
// result a random error within the bound that the operator's own arithmetic allows (Monte Carlo arithmetic):
// the spread of the lanes shows what rounding explains. docs/internals/numerics.md describes the model and
// its limits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "reference/error_bound.h"
#include "reference/evaluate.h"
#include "reference/interpreter_options.h"

namespace assay {

namespace internal {
struct BoundModel;  // reference/walk.h
}  // namespace internal

/// A value in a suspect's walk: the result of
/// its node for the known inputs of the suspect.
struct Computed {
  const Value& value;
  /// The exact network's value, independent of suspects. Undefined: it depends on an unknown operator.
  const Tensor& exact;
  std::span<const Tensor> lanes;  ///< from the suspect's known values: the exact result, then noisy ones
  /// Each of the node's inputs is fed, constant or the suspect's own, so that differences are due to the
  /// node.
  bool own = false;
  /// With `own`, bounds of the node's arithmetic; the lanes then show only what its inputs may have been
  /// before rounding to a narrow type. Null: no bounds, and the lanes include its errors.
  const NodeError* error = nullptr;
  /// Without `own`: the node, this one or an earlier one after known values, where computed numbers became
  /// NaN. Null: none.
  const Node* nan_from = nullptr;
  /// Without `own`, for a Cast: its input in each lane.
  std::span<const Tensor> cast = {};
};

/// A run of the model by a suspect. The walk continues with its known values, so that every value is judged
/// on its actual inputs.
class Suspect {
 public:
  virtual ~Suspect() = default;
  /// True when its own value is known.
  virtual bool has(const Value& v) const = 0;
  /// Its own of a value that is known; called once each, in topological order. Undefined: unusable, and the
  /// walk continues with the computed value.
  virtual Tensor compare(const Computed& computed) = 0;
  /// The same if the reference computes nothing: the node cannot be evaluated on the suspect's inputs, or
  /// follows such a node. `unknown` is the node with an unknown operator, if that is the reason.
  virtual Tensor uncomputed(const Value& v, const std::string& reason, const Node* unknown) = 0;
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
  /// Walks once for all suspects, as far as the values that they have need it. Noise is generated only for
  /// values that are not judged on their own inputs. Throws Error when the model itself cannot be evaluated.
  void follow(std::span<const Tensor> inputs, std::span<Suspect* const> suspects);
  /// Number of noisy evaluations that failed because of the noise (such as an index out of range) and were
  /// dropped.
  int lanes_lost() const;

 private:
  std::unique_ptr<internal::BoundModel> impl_;
};

}  // namespace assay
