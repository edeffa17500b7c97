// A part of a graph whose shapes are known only at run time: it is prepared when they are known, and cached.
#include "base/exception_text.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"
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

class NetworkKernel final : public TensorKernel {
 public:
  explicit NetworkKernel(std::unique_ptr<NetworkRunner> runner) : runner_(std::move(runner)) {}

  Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
             std::string& error) noexcept override {
    try {
      outputs = runner_->run(inputs);
      return Status::kOk;
    } catch (const std::exception& e) {
      error = text_of(e);
      return Status::kKernelFailed;
    }
  }

 private:
  std::unique_ptr<NetworkRunner> runner_;
};

std::unique_ptr<TensorKernel> create(const Plan& plan, const Step& step, NetworkSource& source) {
  const StepReader r(plan, step, 0, StepReader::kAnyNumber, StepReader::kAnyNumber);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    StepReader::check(r.has_input(i), "its input {} is left out", i);
  r.check_network(0, step.inputs.size(), step.outputs.size());
  return std::make_unique<NetworkKernel>(source.shared_runner(step.networks[0]));
}

}  // namespace

constinit const TacticDef def = {
    .name = "network",
    .summary =
        "a part of the network whose shapes are known in the run: planned there, once for each set of them",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create_tensor = create},
};

}  // namespace assay::engine::tactic_network
