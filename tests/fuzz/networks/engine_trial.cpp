#include "fuzz/networks/engine_trial.h"

#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assay/arbiter.h"
#include "assay/builder.h"
#include "assay/runtime.h"

namespace assay::fuzz {
namespace {

/// Leaves one candidate for most regions.
class AnyCandidate final : public AlgorithmSelector {
 public:
  explicit AnyCandidate(Random& r) : r_(r), free_(r.one_of({0, 20, 100})) {}

  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                       const std::vector<Algorithm>& algorithms) override {
    if (algorithms.empty() || r_.chance(free_)) return std::nullopt;
    // The tactic of the reference is the reference itself: rarely, to test its neighbours.
    std::vector<size_t> list;
    for (size_t i = 0; i < algorithms.size(); ++i)
      if (algorithms[i].name != "evaluate" || r_.chance(5)) list.push_back(i);
    return std::vector<size_t>{list.empty() ? r_.below(algorithms.size()) : r_.one_of(list)};
  }
  void report_algorithms(const std::vector<std::string>&, const Algorithm& chosen) override {
    ++chosen_[chosen.name];
  }
  const std::map<std::string, int>& chosen() const { return chosen_; }

 private:
  Random& r_;
  int free_;  ///< percent of the regions with all candidates
  std::map<std::string, int> chosen_;
};

std::string difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!a[i].identical(b[i])) return fmt::format("output {}", i);
  return {};
}

TensorList named(const std::vector<Value*>& values, const std::vector<Tensor>& tensors) {
  TensorList list;
  for (size_t i = 0; i < values.size(); ++i) list.push_back({values[i]->name(), tensors[i]});
  return list;
}

void judge(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
           const std::vector<Tensor>& given, Trial& trial) {
  const Graph& g = *model->graph;
  const std::vector<JudgedResults> results = {{"engine", named(g.outputs, given)}};
  const Arbitration verdict = arbitrate(model, named(g.inputs, feed), results);
  for (const ArbiterVerdict& v : verdict.outputs) {
    ++trial.outputs;
    trial.unclear += v.verdict == Verdict::kUnclear;
    if (v.verdict == Verdict::kNotJudged)
      trial.problem = fmt::format("{} is not judged: {}", v.output, v.note);
    if (v.verdict == Verdict::kWrong)
      trial.problem = fmt::format(
          "{} of {} is {:.9g} instead of {:.9g} at {} of {}{}, {:.3g} times what is explained{}{}", v.output,
          v.op_type, v.worst_result, v.worst_exact, v.worst_at, dtype_name(v.dtype), v.shape.str(),
          v.worst_ratio, v.problem.empty() ? "" : ": ", v.problem);
  }
}

}  // namespace

Trial try_engine(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed, Random& r) {
  Trial trial;
  const int threads = r.one_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16});
  AnyCandidate selector(r);
  BuilderConfig config{.optimization_level = 0};
  config.algorithm_selector = &selector;
  config.optimize = r.chance(85);
  std::string problem;
  try {
    const Runtime runtime({.threads = threads, .on_warning = [](const std::string&) {}});
    const auto engine = Builder(runtime).build_engine(model, config);
    const auto context = engine->create_execution_context();
    const std::vector<Tensor> first = context->infer(feed);
    judge(model, feed, first, trial);
    if (const std::string d = difference(first, context->infer(feed)); !d.empty())
      trial.problem += fmt::format(" {} changes from run to run", d);
    const auto again = runtime.deserialize_engine(engine->serialize());
    if (const std::string d = difference(first, again->create_execution_context()->infer(feed)); !d.empty())
      trial.problem += fmt::format(" {} is another after the plan was saved", d);
  } catch (const std::exception& e) {
    trial.problem = fmt::format("the engine refuses: {}", e.what());
  }
  trial.tactics = selector.chosen();
  if (trial.problem.empty()) return trial;
  std::vector<std::string> names;
  for (const auto& [name, count] : trial.tactics) names.push_back(fmt::format("{} {}", count, name));
  trial.problem += fmt::format(" ({} threads{}; {})", threads, config.optimize ? "" : ", without passes",
                               fmt::join(names, ", "));
  return trial;
}

}  // namespace assay::fuzz
