// Operators with subgraphs (If, Loop, Scan, SequenceMap, FlexAttention, ...): the operator decides which body
// runs on what, and the bodies run on kernels.
#include <algorithm>
#include <numeric>

#include "base/exception_text.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/fallback/prepared_loop.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "reference/fragment.h"

namespace assay::engine::tactic_control {
namespace {

constexpr double kEstimate = 1e-5;

/// Which inputs of the step each body takes from around it.
struct StepFields {
  size_t bodies = 0;
  int64_t inputs = 0;  ///< of the step
  std::vector<int64_t> captures, counts;

  void fields(FieldVisitor& visit) {
    visit("capture_counts", counts, bodies, {0, inputs * static_cast<int64_t>(bodies)});
    const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    visit("captures", captures, static_cast<size_t>(all), {0, inputs - 1});
  }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  if (!has_subgraph(n)) return "it has no subgraph";
  require_op(n, p.model());
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const Value* v : n.inputs()) v != nullptr ? b.add_input(v) : b.skip_input();
  b.networks = {[&n, &model = p.model()] { return make_fragment(n, model).model; }};
  StepFields fields;
  std::vector<const Value*> behind;
  for (const Graph* body : subgraphs_of(n)) {
    const Fragment fragment = make_body(*body, p.model());
    b.networks.emplace_back([model = fragment.model] { return model; });
    fields.counts.push_back(static_cast<int64_t>(fragment.arguments.size()));
    for (const Value* v : fragment.arguments) {
      const auto it = std::find(behind.begin(), behind.end(), v);
      fields.captures.push_back(static_cast<int64_t>(n.inputs().size()) + (it - behind.begin()));
      if (it == behind.end()) behind.push_back(v);
    }
  }
  for (const Value* v : behind) b.add_input(v);
  for (const Value* v : n.outputs()) v != nullptr ? b.add_output(v) : b.skip_output();
  b.write(fields);
  b.estimate = kEstimate;
  return {};
}

class ControlKernel final : public TensorKernel, private SubgraphRunner {
 public:
  ControlKernel(const StepReader& r, NetworkSource& source)
      : model_(r.network(0).model), node_(r.network_node(0)), op_(require_op(node_, *model_)) {
    const std::vector<const Graph*> bodies = subgraphs_of(node_);
    const auto p = r.read(StepFields{.bodies = bodies.size(),
                                     .inputs = static_cast<int64_t>(r.step().inputs.size()),
                                     .captures = {},
                                     .counts = {}});
    std::span<const int64_t> captures = p.captures;
    StepReader::check(!bodies.empty() && r.step().networks.size() == bodies.size() + 1,
                      "it has {} bodies and {} networks", bodies.size(), r.step().networks.size());
    for (size_t i = 0; i < bodies.size(); ++i) {
      const auto own = captures.first(static_cast<size_t>(p.counts[i]));
      captures = captures.subspan(own.size());
      r.check_network(i + 1, bodies[i]->inputs.size() + own.size(), bodies[i]->outputs.size());
      bodies_.push_back({bodies[i], source.runner(r.step().networks[i + 1]), {own.begin(), own.end()}});
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
      error = text_of(e);
      return Status::kKernelFailed;
    }
  }

 private:
  struct Body {
    const Graph* graph;
    std::unique_ptr<NetworkRunner> runner;
    std::vector<int64_t> captures;
  };

  std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) override {
    const Body* body = &body_of(graph);
    // As in the interpreter: what is declared as an optional takes the bare value, too.
    for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i)
      if (graph.inputs[i]->type.kind == Type::Kind::kOptional && inputs[i].dtype() != DType::kOptional)
        inputs[i] = Tensor::optional(inputs[i]);
    StepReader::check(inputs.size() == graph.inputs.size(), "a body of {} inputs gets {}",
                      graph.inputs.size(), inputs.size());
    for (const int64_t i : body->captures) inputs.push_back(inputs_[static_cast<size_t>(i)]);
    std::vector<Tensor> outputs = body->runner->run(inputs);
    // The operator relies on what its schema says of bodies; those of a plan are networks of their own.
    for (size_t i = 0; i < outputs.size(); ++i) check_output(*graph.outputs[i], outputs[i]);
    return outputs;
  }

  bool iterate(const Graph& graph, Iterations& iterations) override {
    const Body& body = body_of(graph);
    std::vector<Tensor> captured;
    for (const int64_t i : body.captures) captured.push_back(inputs_[static_cast<size_t>(i)]);
    return run_prepared(graph, *body.runner, captured, iterations);
  }

  const Body& body_of(const Graph& graph) const {
    const auto body =
        std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& b) { return b.graph == &graph; });
    require(body != bodies_.end(), ErrorCode::kInternal, "a body of {} is unknown", node_.label());
    return *body;
  }

  static void check_output(const Value& declared, const Tensor& t) {
    const Type& type = declared.type;
    if (!t.defined() || !type.is_tensor()) return;
    StepReader::check(type.dtype == DType::kUndefined || t.dtype() == type.dtype,
                      "the body's output '{}' is {}, not {}", declared.name(), dtype_name(t.dtype()),
                      dtype_name(type.dtype));
  }

  std::shared_ptr<const Model> model_;
  const Node& node_;
  BoundOp op_;
  std::vector<Body> bodies_;
  std::span<const Tensor> inputs_;  // of the step, while it runs
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource& source) {
  return std::make_unique<ControlKernel>(
      StepReader(plan, step, 0, StepReader::kAnyNumber, StepReader::kAnyNumber), source);
}

}  // namespace

constinit const TacticDef def = {
    .name = "control",
    .summary = "If, Loop and Scan, whose bodies have plans of their own",
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine::tactic_control
