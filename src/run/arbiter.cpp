#include "run/arbiter.h"

#include <algorithm>
#include <unordered_map>

#include "backends/onnxrt_nodes.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "reference/error_bound.h"
#include "reference/fragment.h"
#include "reference/interpreter.h"
#include "run/arbiter_judge.h"
#include "run/value_tensors.h"
#include "tensor/convert.h"

namespace assay {
namespace {

DType declared_dtype(const Value& v) { return v.type.is_tensor() ? v.type.dtype : DType::kUndefined; }

/// True for what every runner gets alike.
bool is_given(const Value* v) { return v->producer() == nullptr; }

/// The whole of one arbitration.
class Arbiter {
 public:
  Arbiter(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
          std::span<const ArbiterCase> cases, const ArbiterOptions& options)
      : model_(model), feed_(feed), cases_(cases), options_(options) {
    for (const ArbiterCase& c : cases) {
      auto& by_name = results_.emplace_back();
      for (const NamedStoredTensor& t : *c.outputs) by_name.emplace(t.name, &t.tensor);
    }
  }

  Arbitration run();

 private:
  void judge(const Value& v, std::span<const Tensor> lanes);
  void judge_container(const Value& v, std::span<const Tensor> lanes);
  /// Judges the results of one name.
  void judge_tensor(const Value& v, const std::string& name, std::span<const Tensor> lanes, DType declared);
  NodeFinding trace(size_t runner, const Value& v, const ArbiterVerdict& verdict);
  /// The values as this runner saw them; false, with the reason in `missing`, when one is not known.
  bool own_values(size_t runner, std::span<const Value* const> values, std::vector<Tensor>& tensors,
                  std::string& missing) const;
  Tensor seen(size_t runner, const Value& v) const;
  /// Largest error over the bound that holds for every order of the node's additions.
  double ratio_to_worst_case(const Node& n, size_t output, size_t runner, const Tensor& exact) const;

  const std::shared_ptr<const Model>& model_;
  std::span<const Tensor> feed_;
  std::span<const ArbiterCase> cases_;
  const ArbiterOptions& options_;
  std::vector<std::unordered_map<std::string_view, const StoredTensor*>> results_;
  Arbitration arbitration_;
};

Arbitration Arbiter::run() {
  const auto has_results = [&](const std::string& name) {
    return std::any_of(results_.begin(), results_.end(), [&](const auto& by_name) {
      return by_name.contains(name) || by_name.contains(length_name(name)) ||
             by_name.contains(keys_name(name));
    });
  };
  std::vector<const Value*> wanted;
  for (const auto& v : model_->graph->values())
    if (has_results(v->name())) wanted.push_back(v.get());
  if (wanted.empty()) return {};
  Interpreter interpreter(
      model_, {.noisy_lanes = options_.samples, .seed = options_.seed, .foreign = onnxrt_nodes(model_)});
  interpreter.run(
      feed_, [&](const Value& v, std::span<const Tensor> lanes) { judge(v, lanes); }, wanted);
  return std::move(arbitration_);
}

void Arbiter::judge(const Value& v, std::span<const Tensor> lanes) {
  if (lanes[0].is_container())
    judge_container(v, lanes);
  else
    judge_tensor(v, v.name(), lanes, declared_dtype(v));
}

/// Judges what all lanes have. An element that only some have shows in the lengths.
void Arbiter::judge_container(const Value& v, std::span<const Tensor> lanes) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::vector<Tensor>> parts;
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    for_each_tensor(v.name(), lanes[lane], [&](const std::string& name, Tensor tensor) {
      if (lane == 0) names.push_back(name);
      parts[name].push_back(std::move(tensor));
    });
  for (const std::string& name : names)
    if (parts[name].size() == lanes.size()) judge_tensor(v, name, parts[name], DType::kUndefined);
}

void Arbiter::judge_tensor(const Value& v, const std::string& name, std::span<const Tensor> lanes,
                           DType declared) {
  for (size_t r = 0; r < cases_.size(); ++r) {
    const auto it = results_[r].find(name);
    if (it == results_[r].end()) continue;
    const StoredTensor& stored = *it->second;
    ArbiterVerdict verdict = judge_result(cases_[r].runner, name, stored, lanes, declared);
    if (verdict.verdict == Verdict::kWrong && v.producer() != nullptr)
      arbitration_.findings.push_back(trace(r, v, verdict));
    arbitration_.outputs.push_back(std::move(verdict));
    stored.release();
  }
}

/// The value as this runner saw it; undefined when it is not among its results.
Tensor Arbiter::seen(size_t runner, const Value& v) const {
  if (v.is_constant()) return v.tensor().aligned();
  const auto& inputs = model_->graph->inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] == &v) return feed_[i];
  const auto it = results_[runner].find(v.name());
  return it == results_[runner].end() ? Tensor() : it->second->load();
}

bool Arbiter::own_values(size_t runner, std::span<const Value* const> values, std::vector<Tensor>& tensors,
                         std::string& missing) const {
  for (const Value* v : values) {
    tensors.push_back(seen(runner, *v));
    if (tensors.back().defined()) continue;
    missing = fmt::format("its input '{}' is not among the outputs", v->name());
    return false;
  }
  return true;
}

NodeFinding Arbiter::trace(size_t runner, const Value& v, const ArbiterVerdict& verdict) {
  const Node& n = *v.producer();
  NodeFinding f{.runner = cases_[runner].runner,
                .node = n.label(),
                .output = verdict.output,
                .own_problem = {},
                .ratio = verdict.worst_ratio,
                .problem = verdict.problem,
                .missing = {}};
  const Fragment fragment = make_fragment(n, *model_);
  std::vector<Tensor> arguments;
  if (verdict.output != v.name()) f.missing = "it does not give a tensor";
  if (!f.missing.empty() || !own_values(runner, fragment.arguments, arguments, f.missing)) return f;
  const auto output =
      static_cast<size_t>(std::find(n.outputs().begin(), n.outputs().end(), &v) - n.outputs().begin());
  const Value* own_output = fragment.model->graph->nodes()[0]->output(output);
  Interpreter node(fragment.model, {.noisy_lanes = options_.samples,
                                    .seed = options_.seed,
                                    .foreign = onnxrt_nodes(fragment.model)});
  const auto judge_own = [&](const Value&, std::span<const Tensor> lanes) {
    const ArbiterVerdict own =
        judge_result(f.runner, f.output, *results_[runner].at(v.name()), lanes, declared_dtype(v));
    f.own_ratio = own.worst_ratio;
    f.own_problem = own.problem;
    bool made = own.verdict == Verdict::kWrong;
    if (!own.problem.empty()) {
      f.proven = made && (is_float(lanes[0].dtype()) || std::all_of(lanes.begin(), lanes.end(), [&](auto& t) {
                            return t.identical(lanes[0]);
                          }));
    } else if (is_float(lanes[0].dtype()) && !has_subgraph(n)) {
      // The worst-case bound holds whatever the noise says.
      const double worst_case = ratio_to_worst_case(n, output, runner, lanes[0]);
      f.own_ratio = std::max(f.own_ratio, worst_case);
      f.proven = worst_case > 1;
    }
    if (std::all_of(fragment.arguments.begin(), fragment.arguments.end(), is_given)) {
      // There is nobody to inherit from: the verdict on the value is one on the node.
      f.own_ratio = std::max(f.own_ratio, f.ratio);
      made = true;
    }
    f.origin = made || f.proven ? NodeFinding::Origin::kMade : NodeFinding::Origin::kInherited;
  };
  node.run(arguments, judge_own, std::span(&own_output, 1));
  return f;
}

double Arbiter::ratio_to_worst_case(const Node& n, size_t output, size_t runner, const Tensor& exact) const {
  const BoundOp op = bind_op(n, *model_);
  if (!op) return 0;  // nobody knows how an unknown operator rounds
  std::vector<Tensor> inputs;
  for (const Value* v : n.inputs()) inputs.push_back(v == nullptr ? Tensor() : widened(seen(runner, *v)));
  EvalContext c(n, *op.op, *op.version, std::move(inputs));
  c.ideal = true;
  std::vector<Tensor> y(n.outputs().size());
  y[output] = exact;
  const StoredTensor& stored = *results_[runner].at(n.output(output)->name());
  const std::vector<double> u(y.size(), unit_roundoff(stored.dtype()));
  Tensor bound = error_bounds(c, y, u, BoundModel::kWorstCase)[output];
  if (!bound.defined()) bound = Tensor::zeros(DType::kFloat64, exact.shape());
  return ratio_to_bound(to_float64(stored.load()), exact, bound, stored.dtype());
}

}  // namespace

bool Arbitration::all_right() const {
  return std::none_of(outputs.begin(), outputs.end(),
                      [](const ArbiterVerdict& o) { return o.verdict == Verdict::kWrong; });
}

Arbitration arbitrate(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                      std::span<const ArbiterCase> cases, const ArbiterOptions& options) {
  return Arbiter(model, feed, cases, options).run();
}

}  // namespace assay
