// Operators of ai.onnx.ml, prepared once: trees laid out for parallel walks, linear models, support vectors
// and tables of labels read from their attributes.
#include "base/exception_text.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/at_node.h"
#include "ops/check.h"
#include "ops/ml/row_scorer.h"
#include "reference/fragment.h"

namespace assay::engine::tactic_row_scores {
namespace {

constexpr std::string_view kOperators[] = {
    "ai.onnx.ml.LabelEncoder",           "ai.onnx.ml.LinearClassifier",     "ai.onnx.ml.LinearRegressor",
    "ai.onnx.ml.SVMClassifier",          "ai.onnx.ml.SVMRegressor",         "ai.onnx.ml.TreeEnsemble",
    "ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleRegressor"};

std::string propose(const Problem& p, Proposals& proposals) {
  const BoundOp op = p.op();
  if (!op || op.op->scorer == nullptr) return "it scores no rows";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  for (const Value* v : p.node().outputs()) v != nullptr ? b.add_output(v) : b.skip_output();
  b.networks = {[&node = p.node(), &model = p.model()] { return make_fragment(node, model).model; }};
  b.estimate = estimate_seconds(0, 4096, 1);
  return {};
}

class RowScoresKernel final : public TensorKernel {
 public:
  explicit RowScoresKernel(const StepReader& r)
      : model_(r.network(0).model), node_(r.network_node(0)), op_(require_op(node_, *model_)) {
    StepReader::check(r.step().inputs.size() == 1 && r.has_input(0) && node_.inputs().size() == 1 &&
                          op_.op->scorer != nullptr,
                      "it cannot score rows by {}", node_.label());
    at_node(node_, [&] {
      check_form(node_, *op_.op, *op_.version);
      scorer_ = op_.op->scorer(OpContext(node_, *op_.op, *op_.version));
      scorer_->prepare(r.plan().values[static_cast<size_t>(r.step().inputs[0])].dtype);
    });
  }

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      outputs = at_node(node_, [&] { return scorer_->run(inputs[0]); });
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
  std::unique_ptr<RowScorer> scorer_;
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource&) {
  return std::make_unique<RowScoresKernel>(StepReader(plan, step, 1, 1, StepReader::kAnyNumber));
}

}  // namespace

constinit const TacticDef def = {
    .name = "row_scores",
    .summary = "trees, linear models, support vectors and tables of labels, made ready once",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine::tactic_row_scores
