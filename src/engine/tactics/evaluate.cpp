// The plain evaluation of any operator, on whole tensors: what every operator can fall back to.
#include "graph/read.h"
#include "reference/evaluate.h"

#include <algorithm>

#include "engine/tactics/tactic_list.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "passes/region.h"
#include "reference/interpreter.h"

namespace assay::engine {
namespace {

std::string supports(const Problem& p) {
  if (is_region(p.node())) return "a region has no evaluation of its own";
  require_op(p.node(), p.model());
  return {};
}

/// The node as a model of its own. Its inputs are `arguments`.
std::shared_ptr<const Model> make_fragment(const Problem& p, const std::vector<Value*>& arguments) {
  auto fragment = std::make_shared<Model>();
  fragment->opsets = p.model().opsets;
  fragment->ir_version = p.model().ir_version;
  Graph& g = *fragment->graph;
  ValueMap map;
  for (const Value* v : arguments) {
    if (map.contains(v)) continue;
    map[v] = g.add_input(v->name(), v->type);
  }
  clone_node(p.node(), g, map);
  for (const Value* v : p.node().outputs())
    if (v != nullptr) g.outputs.push_back(map.at(v));
  return fragment;
}

std::string lower(const Problem& p, StepBuilder& b) {
  std::vector<Value*> arguments;
  for (Value* v : p.node().inputs()) {
    if (v == nullptr) {
      b.skip_input();
      continue;
    }
    b.add_input(v);
    arguments.push_back(v);
  }
  // What subgraphs take from outside; constants among it are copied with them.
  for (Value* v : used_values(p.node()))
    if (std::find(arguments.begin(), arguments.end(), v) == arguments.end() && !v->is_constant()) {
      b.add_input(v);
      arguments.push_back(v);
    }
  for (const Value* v : p.node().outputs()) v != nullptr ? b.add_output(v) : b.skip_output();
  b.step().fragment = make_fragment(p, arguments);
  return {};
}

/// Evaluates a node without subgraphs.
class EvaluateKernel final : public TensorKernel {
 public:
  explicit EvaluateKernel(std::shared_ptr<const Model> fragment)
      : fragment_(std::move(fragment)),
        node_(*fragment_->graph->nodes()[0]),
        op_(require_op(node_, *fragment_)) {}

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      outputs = evaluate_node(node_, op_, {inputs.begin(), inputs.end()});
      return Status::kOk;
    } catch (const std::exception& e) {
      error = e.what();
      return Status::kKernelFailed;
    }
  }

 private:
  std::shared_ptr<const Model> fragment_;
  const Node& node_;
  BoundOp op_;
};

/// Interprets a node with subgraphs.
class InterpretKernel final : public TensorKernel {
 public:
  explicit InterpretKernel(const std::shared_ptr<const Model>& fragment)
      : graph_(*fragment->graph), interpreter_(fragment, {.precision = ReferencePrecision::kStored}) {}

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      const Node& node = *graph_.nodes()[0];
      outputs.resize(node.outputs().size());
      std::vector<Tensor> given;
      // An input that is left out, or used twice, is not an input of the fragment of its own.
      for (size_t i = 0; i < inputs.size() && given.size() < graph_.inputs.size(); ++i)
        if (inputs[i].defined() && (i >= node.inputs().size() || is_first_use(node, i)))
          given.push_back(inputs[i]);
      interpreter_.run(given, [&](const Value& v, std::span<const Tensor> lanes) {
        for (size_t i = 0; i < outputs.size(); ++i)
          if (node.output(i) == &v) outputs[i] = lanes[0];
      });
      return Status::kOk;
    } catch (const std::exception& e) {
      error = e.what();
      return Status::kKernelFailed;
    }
  }

 private:
  static bool is_first_use(const Node& n, size_t i) {
    for (size_t k = 0; k < i; ++k)
      if (n.input(k) == n.input(i)) return false;
    return true;
  }

  const Graph& graph_;
  Interpreter interpreter_;
};

std::unique_ptr<TensorKernel> create(const Plan&, const Step& step) {
  require(step.fragment != nullptr, ErrorCode::kInternal, "a step of the plain evaluation lacks its node");
  if (has_subgraph(*step.fragment->graph->nodes()[0]))
    return std::make_unique<InterpretKernel>(step.fragment);
  return std::make_unique<EvaluateKernel>(step.fragment);
}

}  // namespace

constinit const TacticDef tactic_evaluate = {
    .name = "evaluate",
    .numerics = NumericsClass::kExact,
    .supports = supports,
    .lower = lower,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine
