// The reference interpreter: walks a graph and evaluates every node, in float64 or rounding as the stored
// types do.
//
// It can carry several lanes through one walk. Lane 0 is the reference. A noisy lane adds to every rounded
// result a random error within the bound that the operator's own arithmetic allows (Monte Carlo arithmetic):
// the spread of the lanes is what rounding explains. docs/internals/numerics.md describes the model and its
// limits.
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

/// A value as a suspect's walk has it: what its node gives for the inputs that the suspect is known to have
/// had.
struct Computed {
  const Value& value;
  /// In the exact network, which knows no suspect. Undefined: it depends on an unknown operator.
  const Tensor& exact;
  std::span<const Tensor>
      lanes;  ///< from the suspect's values, where they are known: the exact result, then noisy ones
  /// Each of the node's inputs is fed, constant or the suspect's own: what differs, the node did.
  bool own = false;
  /// With `own`, what the node's arithmetic may err; the lanes then show only what its inputs may have been
  /// before they were rounded to a narrow type. Null: it has no bounds, and the lanes hold its errors, too.
  const NodeError* error = nullptr;
  /// Without `own`: the node, this one or one before it behind what is known of the suspect, where NaN came
  /// up in the numbers that were computed. Null: there was none.
  const Node* nan_from = nullptr;
  /// Without `own`, of a Cast: what it was given in each lane.
  std::span<const Tensor> cast = {};
};

/// Somebody whose run of the model is looked into. Where it is known what it had, the walk goes on with that,
/// so that every value is judged by what it was made of.
class Suspect {
 public:
  virtual ~Suspect() = default;
  /// Whether its own of this value is known.
  virtual bool has(const Value& v) const = 0;
  /// Its own of a value that is known; called once each, in topological order. Undefined: it is of no use,
  /// and the walk goes on with what was computed.
  virtual Tensor compare(const Computed& computed) = 0;
  /// The same where the reference computes nothing: its node cannot be evaluated on the suspect's inputs, or
  /// comes after such a node. `unknown` is the node whose operator nobody knows, where that is why.
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
  /// Walks once for all suspects, as far as the values that they have need it. Noise is made only for what is
  /// not judged on its own inputs. Throws Error when the model itself cannot be evaluated.
  void follow(std::span<const Tensor> inputs, std::span<Suspect* const> suspects);
  /// Noisy evaluations of nodes that the noise led astray (an index out of range, say), and that were left
  /// out.
  int lanes_lost() const;

 private:
  std::unique_ptr<internal::BoundModel> impl_;
};

}  // namespace assay
