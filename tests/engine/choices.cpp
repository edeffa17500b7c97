// Every choice of the builder gives right results: each pass left out, each tactic left out, each tactic
// alone with the reference evaluation. Every plan is saved and loaded before it runs.
//
// usage: choices CASES [PATTERN]
//
// CASES is a folder of ONNX's backend tests. In addition, networks of the generator are compared with the
// reference. PATTERN: only choices whose name holds it.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "assay/backend_set.h"
#include "assay/builder.h"
#include "assay/runtime.h"
#include "base/cpus.h"
#include "base/mapped_file.h"
#include "engine/tactics/tactic_set.h"
#include "ops/infer.h"
#include "passes/pass_set.h"
#include "reference/interpreter.h"
#include "run/conformance_report.h"
#include "templates/template_set.h"
#include "tensor/convert.h"

namespace assay {
namespace {

struct Choice {
  std::string name;
  std::vector<std::string> disabled_passes, disabled_tactics;
};

std::vector<Choice> all_choices() {
  std::vector<Choice> choices;
  std::set<std::string> passes;
  for (const PassStage stage : {PassStage::kCanonical, PassStage::kSpecialize, PassStage::kIdioms})
    for (const PassDef* p : built_in_passes().stage(stage)) passes.emplace(p->name);
  for (const std::string& p : passes) choices.push_back({"without pass " + p, {p}, {}});
  // Conversions from one form to another compute nothing.
  const std::set<std::string_view> plumbing = {"control", "network", "view", "reorder", "copy", "evaluate"};
  for (const engine::TacticDef* t : engine::built_in_tactics().all()) {
    const std::string name(t->name);
    if (name != "evaluate" && name != "reorder" && name != "copy")
      choices.push_back({"without tactic " + name, {}, {name}});
    if (plumbing.contains(t->name)) continue;
    Choice alone{"only tactic " + name, {}, {}};
    for (const engine::TacticDef* other : engine::built_in_tactics().all())
      if (other != t && !plumbing.contains(other->name)) alone.disabled_tactics.emplace_back(other->name);
    choices.push_back(std::move(alone));
  }
  return choices;
}

/// The choices open() builds with: backends are functions.
const Choice* current = nullptr;

std::shared_ptr<Engine> reloaded_engine(const Runtime& runtime, const std::shared_ptr<const Model>& model) {
  const BuilderConfig config{.optimization_level = 0,
                             .disabled_passes = current->disabled_passes,
                             .verify_passes = true,
                             .disabled_tactics = current->disabled_tactics};
  return runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
}

class PlanSession final : public Session {
 public:
  explicit PlanSession(const std::shared_ptr<const Model>& model)
      : engine_(reloaded_engine(runtime_, model)), context_(engine_->create_execution_context()) {
    for (const IoTensor& t : engine_->inputs()) inputs_.push_back({t.name, t.type});
    for (const IoTensor& t : engine_->outputs()) outputs_.push_back({t.name, t.type});
  }
  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return 0; }
  void run(std::span<const Tensor> feed, const Sink& sink) override {
    std::vector<Tensor> results = context_->infer(feed);
    for (size_t i = 0; i < results.size(); ++i) sink(i, std::move(results[i]));
  }

 private:
  Runtime runtime_{{.threads = 2}};
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<TensorInfo> inputs_, outputs_;
};

/// A plan needs a profile where extents are open, and opsets below 7 are evaluated: the backend `engine`
/// serves those.
bool has_plan(const Model& model) {
  if (model.opset() < 7) return false;
  for (const Value* v : model.graph->inputs)
    if (v->type.is_tensor() && !(v->type.has_shape() && known_shape(*v->type.dims))) return false;
  return true;
}

class PlanBackend final : public Backend {
 public:
  PlanBackend() : Backend({.name = "engine", .summary = "plans that were saved and loaded"}) {}
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    if (!has_plan(*source.model)) return built_in_backends().get("engine").open(source, options);
    return std::make_unique<PlanSession>(source.model);
  }
};

const PlanBackend kPlanBackend;

/// Problems of the conformance cases, beyond those that are expected of the engine.
int check_cases(std::span<const ConformanceCase> cases, const ConformanceExpectations& expected) {
  const ConformanceTarget target = {.name = "engine", .summary = {}, .run = [](const ConformanceCase& c) {
                                      return run_conformance_case(c.folder, kPlanBackend, {});
                                    }};
  const ConformanceTarget* const targets[] = {&target};
  const ConformanceReport report = conformance_report(
      run_conformance_suite(cases, targets, {.workers = available_cpus()}), expected, false);
  for (const std::string& problem : report.problems) fmt::print("  {}: {}\n", current->name, problem);
  return static_cast<int>(report.problems.size());
}

struct Network {
  const char* name;
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed, exact;
};

std::vector<Network> networks() {
  std::vector<Network> all;
  for (const char* name : {"mnist-cnn", "mnist-shapes", "mobilenet-v2", "lstm", "mlp"}) {
    auto model = build_template(find_template(name), {});
    infer_shapes(*model);
    Network n{name, model, {}, {}};
    for (const Value* v : model->graph->inputs) {
      Tensor x = Tensor::zeros(v->type.dtype, *known_shape(*v->type.dims));
      if (v->type.dtype == DType::kFloat32)
        for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = std::sin(static_cast<float>(i));
      n.feed.push_back(std::move(x));
    }
    n.exact.resize(model->graph->outputs.size());
    Interpreter reference(model, {});
    reference.run(n.feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < n.exact.size(); ++i)
        if (model->graph->outputs[i] == &v) n.exact[i] = convert(lanes[0], DType::kFloat64);
    });
    all.push_back(std::move(n));
  }
  return all;
}

int check_network(const Network& n) {
  std::string problem;
  try {
    PlanSession(n.model).run(n.feed, [&](size_t i, const Tensor& result) {
      const Tensor got = convert(result, DType::kFloat64), &wanted = n.exact[i];
      if (got.shape() != wanted.shape())
        problem = fmt::format("output {} has shape {}", i, got.shape().str());
      double top = 0;
      for (const double x : wanted.span<double>()) top = std::max(top, std::abs(x));
      for (int64_t k = 0; k < wanted.numel() && problem.empty(); ++k)
        if (!(std::abs(got.data<double>()[k] - wanted.data<double>()[k]) <= 1e-5 * top))
          problem = fmt::format("output {}: element {} is {} instead of {}", i, k, got.data<double>()[k],
                                wanted.data<double>()[k]);
    });
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (!problem.empty()) fmt::print("  {}: {}: {}\n", current->name, n.name, problem);
  return problem.empty() ? 0 : 1;
}

int run(const std::string& folder, const std::string& pattern) {
  const std::vector<ConformanceCase> cases = find_conformance_cases(folder);
  const std::string expected_file = std::string(ASSAY_CONFORMANCE_EXPECTED);
  const ConformanceExpectations expected(MappedFile::open(expected_file)->bytes(), expected_file);
  int problems = 0;
  size_t count = 0;
  const std::vector<Choice> choices = all_choices();
  // Cases first: they run in processes of their own, which must come before the first thread.
  for (const bool with_cases : {true, false}) {
    const std::vector<Network> generated = with_cases ? std::vector<Network>() : networks();
    for (const Choice& choice : choices) {
      if (choice.name.find(pattern) == std::string::npos) continue;
      current = &choice;
      int found = with_cases ? check_cases(cases, expected) : 0;
      for (const Network& n : generated) found += check_network(n);
      fmt::print("{}: {}: {} problems\n", choice.name, with_cases ? "cases" : "networks", found);
      std::fflush(stdout);
      problems += found;
      count += with_cases ? 1 : 0;
    }
  }
  fmt::print("{} choices, {} cases and 5 networks each: {} problems\n", count, cases.size(), problems);
  return problems == 0 && count > 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print("usage: choices CASES [PATTERN]\n");
    return 2;
  }
  try {
    return assay::run(argv[1], argc > 2 ? argv[2] : "");
  } catch (const std::exception& e) {
    fmt::print("{}\n", e.what());
    return 1;
  }
}
