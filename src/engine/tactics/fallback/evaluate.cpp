// The reference evaluation of any operator, on whole tensors: the fallback of every operator.
#include "reference/evaluate.h"

#include "base/exception_text.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "passes/region.h"
#include "reference/fragment.h"

namespace assay::engine::tactic_evaluate {
namespace {

/// Whatever else there is, is faster.
constexpr double kEstimate = 1;

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.region().kind != RegionKind::kNode) return "it evaluates single nodes";
  if (is_region(p.node())) return "an idiom has no evaluation of its own";
  if (has_subgraph(p.node())) return "it has subgraphs";
  require_op(p.node(), p.model());
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  for (const Value* v : p.node().inputs()) v != nullptr ? b.add_input(v) : b.skip_input();
  for (const Value* v : p.node().outputs()) v != nullptr ? b.add_output(v) : b.skip_output();
  b.networks = {[&node = p.node(), &model = p.model()] { return make_fragment(node, model).model; }};
  b.estimate = kEstimate;
  return {};
}

class EvaluateKernel final : public TensorKernel {
 public:
  explicit EvaluateKernel(const StepReader& r)
      : model_(r.network(0).model), node_(r.network_node(0)), op_(require_op(node_, *model_)) {
    StepReader::check(r.step().inputs.size() == node_.inputs().size() && !has_subgraph(node_),
                      "it cannot evaluate {}", node_.label());
  }

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      outputs = evaluate_node(node_, op_, {inputs.begin(), inputs.end()});
      return Status::kOk;
    } catch (const std::exception& e) {
      error = text_of(e);
      return Status::kKernelFailed;
    }
  }

 private:
  std::shared_ptr<const Model> model_;
  const Node& node_;
  BoundOp op_;
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource&) {
  return std::make_unique<EvaluateKernel>(
      StepReader(plan, step, 0, StepReader::kAnyNumber, StepReader::kAnyNumber));
}

}  // namespace

constinit const TacticDef def = {
    .name = "evaluate",
    .summary = "the reference's own evaluation: serves every operator, last",
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine::tactic_evaluate
