// The walk over a model: frames of values in lanes, and the evaluation of one node in them. For
// interpreter.cpp and follow.cpp.
#pragma once

#include <unordered_map>

#include "graph/at_node.h"
#include "ops/check.h"
#include "ops/numerics/noise.h"
#include "ops/sums/sums.h"
#include "reference/error_bound.h"
#include "reference/interpreter_options.h"

namespace assay {

/// The rounding of an unknown operator is unknown.
inline constexpr double kForeignUlps = 8;
inline constexpr OpVersion kForeignVersion = {1, "", nullptr, nullptr};
inline constexpr OpDef kForeignOp = {.domain = {},
                                     .name = "an unknown operator",
                                     .versions = {},
                                     .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kForeignUlps},
                                     .types = EvalTypes::kAsStored};

/// Addends that a walk adds up in float32, one after the other: some seconds.
inline constexpr int64_t kMaxAddendsInOrder = int64_t{1} << 27;

/// Stands for an operator that is unknown and cannot be evaluated.
inline constexpr OpDef kUnknownOp = {.domain = {},
                                     .name = "an unknown operator",
                                     .versions = {},
                                     .numerics = {.kind = Numerics::Kind::kExact},
                                     .types = EvalTypes::kAsStored};

namespace internal {

/// A model whose nodes know their operators.
struct BoundModel {
  std::shared_ptr<const Model> model;
  InterpreterOptions options;
  struct Bound {
    BoundOp op;
    uint64_t key;  ///< of the node's noise and random numbers
  };
  std::unordered_map<const Node*, Bound> nodes;
  std::unordered_map<const Value*, DType> foreign_types;  ///< output types of unknown operators
  int lanes_lost = 0;

  bool is_foreign(const Node& n) const {
    return options.foreign != nullptr && !bind_op(n, *model) && options.foreign->takes(n);
  }

  void bind(const Graph& g) {
    for (const auto& n : g.nodes()) {
      const BoundOp op = at_node(*n, [&] {
        if (is_foreign(*n)) return BoundOp{&kForeignOp, &kForeignVersion};
        const bool is_imported = model->opset(n->domain) != 0;
        if (options.skip_unknown && is_imported && !bind_op(*n, *model))
          return BoundOp{&kUnknownOp, &kForeignVersion};
        const BoundOp found = require_op(*n, *model);
        check_node(*n, *found.op, *found.version);
        return found;
      });
      nodes.emplace(n.get(), Bound{op, mix_key(options.seed, nodes.size())});
      for (const Attribute& a : n->attributes)
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) bind(**sub);
    }
  }
  bool ideal() const { return options.precision == ReferencePrecision::kFloat64; }
};

using Lanes = std::vector<Tensor>;

/// The values of one graph while it runs, in some of the lanes: all of
/// them in the main graph, one in a subgraph, which its node runs lane
/// by lane. A subgraph's frame looks up captured values in outer frames.
class Frame {
 public:
  Frame(const Graph& graph, std::vector<size_t> lanes) : graph_(graph), lanes_(std::move(lanes)) {}
  /// The frame of a subgraph, in one lane. `run` is the number of this run, from 1 on.
  Frame(const Graph& graph, size_t lane, const Frame& outer, uint64_t run)
      : graph_(graph), lanes_({lane}), outer_(&outer), run_(run) {}
  /// The frame of a suspect: differences from the exact network's, which outlives it, in the same lanes.
  static Frame beside(const Frame& exact) {
    Frame own(exact.graph_, exact.lanes_);
    own.outer_ = &exact;
    return own;
  }
  Frame(Frame&&) = default;
  Frame(const Frame&) = delete;  // copying is always a mistake

  const Graph& graph() const { return graph_; }
  /// Numbers of the lanes that this frame carries; entry i of a value's Lanes is lane lanes()[i].
  const std::vector<size_t>& lanes() const { return lanes_; }
  /// 0 for the main graph.
  uint64_t run() const { return run_; }

  bool has(const Value* v) const { return values_.contains(v); }
  /// Values kept in stored types are converted to float64 here permanently.
  Lanes get(const Value* v) const {
    if (const auto it = values_.find(v); it != values_.end()) {
      if (it->second.stored) it->second = {widened_lanes(it->second.lanes), false};
      return it->second.lanes;
    }
    require(outer_ != nullptr, ErrorCode::kInternal, "the value '{}' was used before it was computed",
            v->name());
    const Lanes captured = outer_->get(v);
    Lanes own;
    for (const size_t lane : lanes_)
      own.push_back(captured[static_cast<size_t>(
          std::find(outer_->lanes_.begin(), outer_->lanes_.end(), lane) - outer_->lanes_.begin())]);
    return own;
  }
  void set(const Value* v, Lanes lanes) { values_[v] = {std::move(lanes), false}; }
  /// Sets floats in their stored types, which get() converts to float64: operators that only move elements
  /// (moves_elements()) then do not expand a large table for the few elements that they read.
  void set_stored(const Value* v, Lanes lanes) { values_[v] = {std::move(lanes), true}; }
  /// The value as kept; null if it is in an outer frame, or nowhere.
  const Lanes* as_kept(const Value* v) const {
    const auto it = values_.find(v);
    return it != values_.end() ? &it->second.lanes : nullptr;
  }
  const Frame* outer() const { return outer_; }
  void erase(const Value* v) { values_.erase(v); }

 private:
  const Graph& graph_;
  std::vector<size_t> lanes_;
  const Frame* outer_ = nullptr;
  uint64_t run_ = 0;
  struct Kept {
    Lanes lanes;
    bool stored = false;
  };
  static Lanes widened_lanes(const Lanes& lanes);
  mutable std::unordered_map<const Value*, Kept> values_;
};

/// The noise with which a node is evaluated.
enum class Noise : uint8_t {
  kNone,    ///< none: the spread is not needed
  kInputs,  ///< that of its inputs, and its own only if its errors have no bounds
  kAdd,     ///< both
};

/// Results of evaluating a node other than its outputs, which are in the frame.
struct Evaluation {
  std::vector<NodeError> errors;  ///< by output; empty without bounds or request
};

/// One walk over the model.
class Walk {
 public:
  using Observe = std::function<void(const Value&)>;

  explicit Walk(BoundModel& interpreter) : impl_(interpreter), work_left_(interpreter.options.max_work) {}

  /// Whether to keep the values of the graph's outputs in the frame.
  enum class KeepOutputs : uint8_t { kNo, kYes };
  /// Runs all nodes of a frame and releases values after their last use; `computed` sees each node output
  /// before that.
  void nodes(Frame& frame, const Observe& computed, KeepOutputs outputs);
  /// `bounds`: of the errors that the evaluation reports, if any.
  Evaluation evaluate(const Node& n, Frame& frame, Noise wanted, Bounds bounds);
  /// A suspect's own value in the lanes of its frame. For types narrower than float32 the noisy lanes have
  /// possible values before rounding: a backend may pass results on unrounded. For infinities they have the
  /// value `computed` in the lane, if known.
  Lanes own_lanes(const Tensor& t, const Value& v, const Frame& frame, Lanes computed) const;
  std::vector<Tensor> subgraph(const Graph& g, std::vector<Tensor> inputs, const Frame& outer, size_t lane);
  /// The lanes of a node input: a constant in every lane, or computed values.
  Lanes lanes_of(const Value* v, const Frame& frame) const;
  /// True when errors propagate within the operator, so that only noisy evaluations show them.
  bool errs_within(const Node& n) const { return impl_.nodes.at(&n).op.op->numerics.perturb != nullptr; }
  /// A value of stored types as the walk keeps it.
  Tensor incoming(const Tensor& t) const { return impl_.ideal() ? widened(t) : t; }
  /// Gives an input of the model its value in all lanes.
  void feed(const Value* input, const Tensor& t, Frame& frame) const;

 private:
  struct Task;
  Task task_of(const Node& n, const Frame& frame, Noise wanted) const;
  void set_inputs(Task& t) const;
  /// In the lane of that place in the frame.
  std::vector<Tensor> inputs_of(const Task& t, size_t k) const;
  /// Nothing where they are those of lane 0.
  std::vector<Tensor> evaluate_from_inputs(Task& t, size_t k);
  /// The same with what else may be otherwise in that lane.
  std::vector<Tensor> outputs_in(Task& t, size_t k);
  /// See InterpreterOptions::sums_in_order.
  void add_up_in_order(const Task& t, size_t k, std::vector<Tensor>& y);
  /// The same of the sizes to expect, which the rule of sums has for these very addends.
  void widen_for_sums(const Task& t, std::vector<NodeError>& errors);
  static bool adds_up_in_float32(const Task& t, size_t output);
  /// Whether the lanes may be evaluated together.
  bool stacks(const Task& t) const;

  Tensor argument(const Value& input, const Tensor& t) const;
  /// With `stored`, inputs and outputs have their stored types.
  std::vector<Tensor> evaluate_lane(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                    size_t lane, bool stored = false);
  /// The inputs, as kept, of a node that moves elements, with floats in one stored type; nothing if there are
  /// several types, which have to be converted to float64.
  std::optional<std::vector<Lanes>> kept_inputs(const Node& n, const Frame& frame) const;
  /// One of them.
  Lanes kept_lanes_of(const Value* v, const Frame& frame) const;
  /// Of Numerics::perturb.
  uint64_t perturbing_key(uint64_t key, size_t lane, uint64_t run) const;
  std::vector<Tensor> evaluate_foreign(const Node& n, std::vector<Tensor> inputs);
  /// The lane's outputs; those of lane 0 if the node fails because of the noise.
  std::vector<Tensor> evaluate_noisy(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                     size_t lane, const std::vector<Lanes>& outputs);
  std::vector<NodeError> errors_of(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                   const std::vector<Lanes>& outputs, Bounds bounds);
  void add_noise(const Node& n, const Frame& frame, const std::vector<NodeError>& errors,
                 std::vector<Lanes>& outputs) const;

  void charge(const Node& n, const std::vector<Lanes>& inputs);
  void show(const Node& n, const std::vector<Lanes>& inputs, const std::vector<Lanes>& outputs) const;

  BoundModel& impl_;
  /// Constants of the node that is evaluated, as the walk keeps them: for one suspect after the other.
  mutable std::unordered_map<const Value*, Tensor> constants_;
  const Node* constants_of_ = nullptr;
  int64_t work_left_;
  int64_t addends_left_ = kMaxAddendsInOrder;
  uint64_t subgraph_runs_ = 0;
};

/// True when a node input or output is equal in every lane.
bool all_shared(const Lanes& lanes);

}  // namespace internal
}  // namespace assay
