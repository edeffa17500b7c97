// What a tactic is: one way to run one kind of node. One TacticDef per tactic, in one file
// src/engine/tactics/<name>.cpp, named in tactics.def under the operators it serves.
//
// The builder asks the tactics of an operator in order, best first; the last is always the plain evaluation.
// A tactic first says whether it can serve the problem; then it makes the step: layouts of inputs and
// outputs, packed constants, parameters. At run time the step's kernel is made from the plan alone.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"
#include "ops/op_context.h"
#include "reference/evaluate.h"

namespace assay::engine {

/// How far a tactic's results may lie from the plain evaluation's.
enum class NumericsClass : uint8_t {
  kExact,         ///< the same values moved, or the same operations in the same order
  kReassociated,  ///< float32 with sums in another order
  kLowered,       ///< fewer bits, or an algorithm with larger rounding errors
};

/// What the builder knows about the machine and the wishes of its caller.
struct BuildConfig {
  int threads = 1;
  /// Channels of a block in blocked layouts: what oneDNN's kernels for this CPU like.
  int32_t block = 16;
  /// False: only the passes that the engine cannot do without.
  bool optimize = true;
  /// False: the plan only says what would be done. Its constants have no data, so it cannot be run.
  bool has_data = true;
  /// For tests only: name of a node whose result is made slightly wrong.
  std::string planted_fault;
};

/// One node to be lowered, with what is known about its values.
class Problem {
 public:
  Problem(const Node& node, const Model& model, const BuildConfig& config)
      : node_(node), model_(model), config_(config), op_(bind_op(node, model)) {}
  virtual ~Problem() = default;

  const Node& node() const { return node_; }
  const Model& model() const { return model_; }
  const BuildConfig& config() const { return config_; }
  /// The operator's definition; empty for regions and unknown operators.
  BoundOp op() const { return op_; }
  /// Attributes of an ONNX node of this model with schema defaults.
  OpContext attributes(const Node& n) const;
  OpContext attributes() const { return attributes(node_); }

  size_t input_count() const { return node_.inputs().size(); }
  size_t output_count() const { return node_.outputs().size(); }
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  DType input_dtype(size_t i) const;
  DType output_dtype(size_t i) const;
  /// Extents, when they are all known before the run.
  const Shape* input_shape(size_t i) const { return shape(node_.input(i)); }
  const Shape* output_shape(size_t i) const { return shape(node_.output(i)); }
  /// Data of a constant input; null for others.
  const UnalignedTensor* input_constant(size_t i) const;
  /// The layout an input has now.
  Layout input_layout(size_t i) const { return layout(node_.input(i)); }

  virtual const Shape* shape(const Value* v) const = 0;
  virtual Layout layout(const Value* v) const = 0;

 private:
  const Node& node_;
  const Model& model_;
  const BuildConfig& config_;
  BoundOp op_;
};

/// Where a tactic writes down the step it makes.
class StepBuilder {
 public:
  virtual ~StepBuilder() = default;

  /// Appends a step input: value `v` of the graph in this layout (a reorder step is added when it is in
  /// another).
  virtual void add_input(const Value* v, Layout layout = {}) = 0;
  /// Appends an input that is left out.
  virtual void skip_input() = 0;
  /// Appends a constant of the step's own. `make` is called when lower() has returned, unless a constant of
  /// that key exists, so it must hold what it needs.
  virtual void add_constant(const std::string& key, const std::string& name,
                            const std::function<Tensor()>& make) = 0;
  /// Appends a step output: value `v` will have this layout.
  virtual void add_output(const Value* v, Layout layout = {}) = 0;
  virtual void skip_output() = 0;
  /// No step at all: `v` lies, in `layout`, in the memory of `source` as it is in its own layout, `offset`
  /// bytes from its start. May be called for several outputs; nothing else may be called then.
  virtual void alias(const Value* v, Layout layout, const Value* source, Layout source_layout,
                     int64_t offset) = 0;
  virtual Step& step() = 0;
};

/// One line of tactics.def.
struct TacticDef {
  std::string_view name;
  /// Operators of the default domain that it serves; regions are written `assay.Fused`.
  std::span<const std::string_view> operators;
  NumericsClass numerics = NumericsClass::kReassociated;
  /// Empty when the tactic can serve the problem; else the sentence that says why not.
  std::string (*supports)(const Problem&);
  /// Makes the step. May still decline, with a sentence, before it has written anything into the builder.
  std::string (*lower)(const Problem&, StepBuilder&);
  KernelFactory factory;
};

}  // namespace assay::engine
