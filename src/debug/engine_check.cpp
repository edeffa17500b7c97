#include "debug/engine_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "assay/error.h"
#include "backends/session_info.h"
#include "base/stopwatch.h"
#include "debug/child_run.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "reference/interpreter.h"

namespace assay::debug {
namespace {

bool has_bytes(const Tensor& t) { return t.defined() && !t.is_container() && t.dtype() != DType::kString; }

bool is_same(const Tensor& a, const Tensor& b) {
  if (!has_bytes(a) || !has_bytes(b)) return true;  // of others nothing is said
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.nbytes() == 0 || std::memcmp(a.data(), b.data(), a.nbytes()) == 0);
}

/// For each set of inputs the outputs in float64, in the graph's order.
std::vector<std::vector<Tensor>> exact_outputs(const Model& model, const LoaderCache& data) {
  const std::shared_ptr<Model> copy = clone_model(model);
  pass_inline_functions::def.run(*copy);
  sort_topologically(*copy->graph);
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}});
  const std::vector<Value*>& outputs = copy->graph->outputs;
  Interpreter interpreter(copy);
  std::vector<std::vector<Tensor>> all;
  for (int64_t i = 0; i < data.size(); ++i) {
    std::vector<Tensor>& row = all.emplace_back(outputs.size());
    interpreter.run(data.feed(i), [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t k = 0; k < outputs.size(); ++k)
        if (outputs[k] == &v) row[k] = lanes[0];
    });
  }
  return all;
}

Answer answer_of(const ChildOutcome& outcome, double seconds) {
  Answer answer;
  if (!outcome.death.empty())
    answer = {.kind = outcome.is_overdue ? AnswerKind::kTimeOut : AnswerKind::kFailure,
              .failure = "the process that built and ran it " + outcome.death};
  else if (!outcome.error.empty())
    answer = {.kind = AnswerKind::kDidNotRun, .failure = outcome.error};
  else
    answer = answer_from_text(outcome.text);
  answer.seconds = seconds;
  return answer;
}

class EngineCheckRun final : public CheckRun {
 public:
  EngineCheckRun(const std::function<std::string()>& work, double timeout_seconds, int jobs)
      : run_(work, timeout_seconds, 1.0 / jobs) {}
  void watch(std::vector<pollfd>& fds) const override { run_.watch(fds); }
  bool advance() override { return run_.advance(); }
  Answer answer() override { return answer_of(run_.outcome(), run_.seconds()); }

 private:
  ChildRun run_;
};

}  // namespace

EngineCheck::EngineCheck(EngineCheckOptions options, LoaderCache data)
    : options_(std::move(options)), data_(std::move(data)) {}

void EngineCheck::prepare() {
  if (std::exchange(is_prepared_, true)) return;
  data_.set_inputs(tensor_infos(options_.model->graph->inputs));
  require(data_.size() > 0, ErrorCode::kInvalidArgument, "no iteration has data to check engines on");
  if (options_.goal) exact_ = exact_outputs(*options_.model, data_);
}

std::string EngineCheck::build_and_judge(const std::function<std::shared_ptr<Engine>()>& build) const {
  std::shared_ptr<Engine> engine;
  try {
    engine = build();
  } catch (const Error& e) {
    return answer_text({.kind = AnswerKind::kDidNotRun, .failure = e.what()});
  }
  return answer_text(judge(*engine));
}

Answer EngineCheck::check(const std::string&, SearchObserver&) {
  prepare();
  Stopwatch watch;
  const ChildOutcome outcome =
      run_in_child([&] { return build_and_judge(build_); }, options_.timeout_seconds);
  watch.pause();
  return answer_of(outcome, watch.seconds());
}

std::unique_ptr<CheckRun> EngineCheck::begin(const CheckFiles&) {
  prepare();
  return std::make_unique<EngineCheckRun>([this, build = build_] { return build_and_judge(build); },
                                          options_.timeout_seconds, jobs_);
}

Answer EngineCheck::judge(Engine& engine) const {
  Findings found;
  try {
    const std::unique_ptr<ExecutionContext> context = engine.create_execution_context();
    for (int64_t i = 0; i < data_.size(); ++i) run_on(*context, i, found);
  } catch (const Error& e) {
    found.wrong = e.what();
    found.accuracy = Accuracy::from({});
  }
  Answer answer;
  if (options_.goal) {
    answer.measures = found.accuracy.measures();
    answer.measures["milliseconds"] = 1e3 * found.seconds;
    if (found.wrong.empty() && !options_.goal->is_met(found.accuracy))
      found.wrong = "the results are not exact enough";
  }
  if (!found.wrong.empty()) answer.kind = AnswerKind::kFailure;
  if (!found.flaky.empty()) answer.kind = AnswerKind::kFlaky;
  answer.failure = found.flaky.empty() ? found.wrong : found.flaky;
  return answer;
}

void EngineCheck::run_on(ExecutionContext& context, int64_t iteration, Findings& found) const {
  const std::vector<Tensor> feed = data_.feed(iteration);
  const std::vector<IoTensor> names = context.engine().outputs();
  const std::vector<Tensor> outputs = context.infer(feed);
  double fastest = context.last_run_seconds();
  for (int run = 1; run < options_.runs; ++run) {
    const std::vector<Tensor> again = context.infer(feed);
    fastest = std::min(fastest, context.last_run_seconds());
    for (size_t k = 0; k < outputs.size() && found.flaky.empty(); ++k)
      if (!is_same(outputs[k], again[k]))
        found.flaky = fmt::format("the output '{}' differs from run to run", names[k].name);
  }
  found.seconds += fastest;
  if (options_.goal) {
    const std::vector<Tensor>& exact = exact_[static_cast<size_t>(iteration)];
    for (size_t k = 0; k < outputs.size() && k < exact.size(); ++k) found.accuracy.add(outputs[k], exact[k]);
  } else if (found.wrong.empty()) {
    found.wrong = verdict(iteration, outputs);
  }
}

TensorList EngineCheck::named_outputs(const std::vector<Tensor>& outputs) const {
  TensorList list;
  const std::vector<Value*>& values = options_.model->graph->outputs;
  for (size_t k = 0; k < outputs.size() && k < values.size(); ++k)
    list.push_back({values[k]->name(), outputs[k]});
  return list;
}

std::string EngineCheck::verdict(int64_t iteration, const std::vector<Tensor>& outputs) const {
  const JudgedResults judged{.runner = "engine", .outputs = named_outputs(outputs), .asked = options_.asked};
  const Arbitration arbitration = arbitrate(options_.model, data_.data(iteration), {&judged, 1});
  for (const ArbiterVerdict& v : arbitration.outputs)
    if (v.verdict == Verdict::kWrong) return fmt::format("the output '{}' is wrong", v.output);
  return {};
}

}  // namespace assay::debug
