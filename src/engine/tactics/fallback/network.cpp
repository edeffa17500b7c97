// A part of a graph whose shapes are known only at run time: it is prepared when they are known, and cached.
// One of few elements is computed in less time than it would be prepared: node by node, as the reference
// does.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/exception_text.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "passes/region.h"
#include "reference/evaluate.h"
#include "reference/fragment.h"

namespace assay::engine::tactic_network {
namespace {

constexpr std::string_view kOperators[] = {"assay.Network"};

std::string propose(const Problem& p, Proposals& proposals) {
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const Value* v : p.node().inputs()) b.add_input(v);
  for (const Value* v : p.node().outputs()) b.add_output(v);
  b.networks = {[&node = p.node(), &model = p.model()] { return make_body(body_of(node), model).model; }};
  b.shares_networks = &body_of(p.node());
  b.estimate = estimate_seconds(0, 0, 1);
  return {};
}

/// Whether every implementation of a node gives the same elements.
bool is_exact(const Node& n, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  return facts.reads_no_numbers() || facts.is_ieee ||
         std::all_of(n.outputs().begin(), n.outputs().end(), [](const Value* v) {
           return v == nullptr || is_integer(dtype_of(v)) || dtype_of(v) == DType::kBool;
         });
}

bool reads_elements(const Value& v) {
  const auto& readers = v.consumers();
  return std::any_of(readers.begin(), readers.end(),
                     [](const Node* n) { return !is_op(*n, "Shape") && !is_op(*n, "Size"); });
}

/// Evaluates a body of exact nodes, such as those that make a mask, one by one.
class SmallBody {
 public:
  explicit SmallBody(std::shared_ptr<const Model> model) : model_(std::move(model)) {
    const Graph& g = *model_->graph;
    for (const auto& v : g.values())
      if (v->tensor().defined()) known_.emplace(v.get(), v->tensor().aligned());
    for (const auto& n : g.nodes()) ops_.push_back(require_op(*n, *model_));
    for (const Value* v : g.inputs) reads_.push_back(reads_elements(*v));
  }

  /// Elements of inputs and constants, or of results, that are few.
  static constexpr int64_t kMostRead = 1 << 12, kMostMade = 1 << 14;

  /// Whether it is a network that can be evaluated so, with few constants.
  static bool suits(const Model& model) {
    int64_t constants = 0;
    for (const auto& v : model.graph->values())
      if (v->is_constant()) constants += v->tensor().defined() ? v->tensor().numel() : kMostRead + 1;
    const auto& nodes = model.graph->nodes();
    return constants <= kMostRead && std::all_of(nodes.begin(), nodes.end(), [&](const auto& n) {
             const BoundOp op = bind_op(*n, model);
             return op && !is_region(*n) && !has_subgraph(*n) && !op.op->random && is_exact(*n, model);
           });
  }

  /// Of a cache that grows only the length may be read.
  bool are_few(std::span<const Tensor> inputs) const {
    int64_t elements = 0;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (reads_[i]) elements += inputs[i].is_container() ? kMostRead + 1 : inputs[i].numel();
    return elements <= kMostRead;
  }

  /// Nothing when results become many.
  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs) const {
    const Graph& g = *model_->graph;
    std::unordered_map<const Value*, Tensor> values = known_;
    for (size_t i = 0; i < inputs.size(); ++i) values.insert_or_assign(g.inputs[i], inputs[i]);
    int64_t made = 0;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const Node& n = *g.nodes()[i];
      std::vector<Tensor> operands;
      for (const Value* v : n.inputs()) operands.push_back(v != nullptr ? values.at(v) : Tensor());
      std::vector<Tensor> results = evaluate_node(n, ops_[i], std::move(operands));
      for (size_t o = 0; o < n.outputs().size(); ++o) {
        if (n.output(o) == nullptr) continue;
        made += results[o].is_container() ? kMostMade + 1 : results[o].numel();
        values.insert_or_assign(n.output(o), std::move(results[o]));
      }
      if (made > kMostMade) return std::nullopt;
    }
    std::vector<Tensor> outputs;
    for (const Value* v : g.outputs) outputs.push_back(values.at(v));
    return outputs;
  }

 private:
  std::shared_ptr<const Model> model_;
  std::unordered_map<const Value*, Tensor> known_;
  std::vector<BoundOp> ops_;
  std::vector<bool> reads_;  ///< the elements of this input, and not its shape alone
};

class NetworkKernel final : public TensorKernel {
 public:
  NetworkKernel(std::unique_ptr<NetworkRunner> runner, const std::shared_ptr<const Model>& model)
      : runner_(std::move(runner)) {
    if (model != nullptr && SmallBody::suits(*model)) small_.emplace(model);
  }

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      // The shapes of the last run are worth a plan.
      if (small_ && small_->are_few(inputs) && is_new(inputs)) {
        if (auto results = small_->run(inputs)) {
          outputs = std::move(*results);
          return Status::kOk;
        }
        small_.reset();
      }
      outputs = runner_->run(inputs);
      return Status::kOk;
    } catch (const std::exception& e) {
      error = text_of(e);
      return Status::kKernelFailed;
    }
  }

 private:
  bool is_new(std::span<const Tensor> inputs) {
    std::vector<Shape> shapes;
    for (const Tensor& t : inputs) shapes.push_back(t.shape());
    return std::exchange(last_, shapes) != shapes;
  }

  std::unique_ptr<NetworkRunner> runner_;
  std::optional<SmallBody> small_;
  std::vector<Shape> last_;
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource& source) {
  const StepReader r(plan, step, 0, StepReader::kAnyNumber, StepReader::kAnyNumber);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    StepReader::check(r.has_input(i), "its input {} is left out", i);
  r.check_network(0, step.inputs.size(), step.outputs.size());
  return std::make_unique<NetworkKernel>(source.shared_runner(step.networks[0]), r.network(0).model);
}

}  // namespace

constinit const TacticDef def = {
    .name = "network",
    .summary =
        "a part of the network whose shapes are known in the run: planned there, once for each set of them, "
        "or "
        "evaluated node by node where that takes less time",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine::tactic_network
