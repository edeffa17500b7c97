// Operators with subgraphs (If, Loop, Scan, SequenceMap, FlexAttention, ...): the operator decides which body
// runs on what, and the bodies run on kernels.
#include <algorithm>

#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "reference/fragment.h"

namespace assay::engine {
namespace {

constexpr double kEstimate = 1e-5;

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  if (!has_subgraph(n)) return "it has no subgraph";
  require_op(n, p.model());
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const Value* v : n.inputs()) v != nullptr ? b.add_input(v) : b.skip_input();
  b.networks = {make_fragment(n, p.model()).model};
  // Which inputs of the step each body takes from around it.
  std::vector<int64_t> captures, counts;
  std::vector<const Value*> behind;
  for (const Graph* body : subgraphs_of(n)) {
    const Fragment fragment = make_body(*body, p.model());
    b.networks.push_back(fragment.model);
    counts.push_back(static_cast<int64_t>(fragment.arguments.size()));
    for (const Value* v : fragment.arguments) {
      const auto it = std::find(behind.begin(), behind.end(), v);
      captures.push_back(static_cast<int64_t>(n.inputs().size()) + (it - behind.begin()));
      if (it == behind.end()) behind.push_back(v);
    }
  }
  for (const Value* v : behind) b.add_input(v);
  for (const Value* v : n.outputs()) v != nullptr ? b.add_output(v) : b.skip_output();
  b.step.parameters.set("captures", captures);
  b.step.parameters.set("capture_counts", counts);
  b.estimate = kEstimate;
  return {};
}

class ControlKernel final : public TensorKernel, private SubgraphRunner {
 public:
  ControlKernel(const Plan& plan, const Step& step, NetworkSource& source)
      : model_(plan.networks.at(static_cast<size_t>(step.networks.at(0))).model),
        node_(*model_->graph->nodes().at(0)),
        op_(require_op(node_, *model_)) {
    const std::vector<const Graph*> bodies = subgraphs_of(node_);
    const auto &captures = step.parameters.numbers("captures"),
               &counts = step.parameters.numbers("capture_counts");
    require(bodies.size() == counts.size() && step.networks.size() == bodies.size() + 1, ErrorCode::kInternal,
            "a step of control flow has {} bodies and {} networks", bodies.size(), step.networks.size());
    size_t at = 0;
    for (size_t i = 0; i < bodies.size(); ++i) {
      Body& body = bodies_.emplace_back(Body{bodies[i], source.runner(step.networks[i + 1]), {}});
      for (int64_t k = 0; k < counts[i]; ++k) {
        body.captures.push_back(static_cast<size_t>(captures.at(at++)));
        require(body.captures.back() < step.inputs.size(), ErrorCode::kInternal,
                "a body takes input {} of {}", body.captures.back(), step.inputs.size());
      }
    }
  }

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      inputs_ = inputs;
      outputs = evaluate_node(
          node_, op_, {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(node_.inputs().size())},
          this);
      return Status::kOk;
    } catch (const std::exception& e) {
      error = e.what();
      return Status::kKernelFailed;
    }
  }

 private:
  struct Body {
    const Graph* graph;
    std::unique_ptr<NetworkRunner> runner;
    std::vector<size_t> captures;
  };

  std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) override {
    const auto body =
        std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& b) { return b.graph == &graph; });
    require(body != bodies_.end(), ErrorCode::kInternal, "a body of {} is unknown", node_.label());
    // As in the interpreter: what is declared as an optional takes the bare value, too.
    for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i)
      if (graph.inputs[i]->type.kind == Type::Kind::kOptional && inputs[i].dtype() != DType::kOptional)
        inputs[i] = Tensor::optional(inputs[i]);
    for (const size_t i : body->captures) inputs.push_back(inputs_[i]);
    return body->runner->run(inputs);
  }

  std::shared_ptr<const Model> model_;
  const Node& node_;
  BoundOp op_;
  std::vector<Body> bodies_;
  std::span<const Tensor> inputs_;  // of the step, while it runs
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource& source) {
  return std::make_unique<ControlKernel>(plan, step, source);
}

}  // namespace

constinit const TacticDef tactic_control = {
    .name = "control",
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine
