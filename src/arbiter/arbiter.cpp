#include "arbiter/arbiter.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>

#include "arbiter/asked.h"
#include "arbiter/suspect_run.h"
#include "backends/onnxrt_nodes.h"
#include "base/diagnostics.h"
#include "base/progress_line.h"
#include "ops/node_facts.h"
#include "reference/interpreter.h"
#include "reference/quantisation_scale.h"
#include "tensor/block_reuse.h"

namespace assay {
namespace {

/// More noisy evaluations are made where a ratio beyond this one comes from few: the largest of a million
/// normal numbers varies, and so does a spread that few lanes show.
constexpr double kNearlyWrong = 0.7;

/// And beyond this one from the first ones is not to be explained by more of them, where a second look shows
/// the node.
constexpr double kFarBeyond = 100;

/// Shows on a terminal how far an evaluation is, and elsewhere says so when it takes long.
class Progress {
 public:
  void operator()(size_t done, size_t all) {
    const std::string text = fmt::format("{} of {} nodes are evaluated", done, all);
    if (line_.is_shown()) return line_.show("Float64 verdict: " + text);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    diag::info("Float64 Verdict | {}", text);
    next_ = now + kEvery;
  }

 private:
  static constexpr std::chrono::seconds kEvery{10};
  ProgressLine line_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

/// How to walk through a model once.
struct Pass {
  int samples;
  uint64_t seed;
  bool noisy_levels = false, sums_in_order = false;  ///< as in InterpreterOptions
  bool computes_wider = false;                       ///< the runners are known to
  ExcuseSet excuses{};                               ///< those that count
  const Asked* asked = nullptr;                      ///< what the runners were asked to compute in
};

/// `shown` gets what each runner's results show of its arithmetic.
Arbitration arbitrate_once(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                           std::span<const ArbiterCase> cases, const Pass& pass, KeptLanes* kept,
                           std::vector<ShownArithmetic>* shown = nullptr) {
  Arbitration result;
  std::vector<std::unique_ptr<SuspectRun>> runs;
  std::vector<Suspect*> suspects;
  for (const ArbiterCase& c : cases)
    suspects.push_back(runs.emplace_back(std::make_unique<SuspectRun>(*model, feed, c, result.outputs, kept,
                                                                      pass.computes_wider, pass.noisy_levels,
                                                                      pass.excuses, pass.asked))
                           .get());
  const auto& values = model->graph->values();
  const auto anyone_has = [&](const auto& v) {
    return std::any_of(suspects.begin(), suspects.end(), [&](const Suspect* s) { return s->has(*v); });
  };
  if (std::none_of(values.begin(), values.end(), anyone_has)) return result;
  Progress progress;
  Interpreter interpreter(model, {.noisy_lanes = pass.samples,
                                  .seed = pass.seed,
                                  .noisy_levels = pass.noisy_levels,
                                  .computes_wider = pass.computes_wider,
                                  .sums_in_order = pass.sums_in_order,
                                  .lowering = pass.asked == nullptr ? nullptr : &pass.asked->lowering,
                                  .progress = [&](size_t done, size_t all) { progress(done, all); },
                                  .foreign = onnxrt_nodes(model),
                                  .skip_unknown = true});
  interpreter.follow(feed, suspects);
  result.samples = pass.samples;
  result.lanes_lost = interpreter.lanes_lost();
  for (size_t i = 0; shown != nullptr && i < runs.size(); ++i) shown->push_back(runs[i]->arithmetic());
  for (const auto& run : runs)
    if (pass.asked != nullptr) std::ranges::copy(run->shares(), std::back_inserter(result.shares));
  return result;
}

/// Of runners in general, and of those that are known to compute in float32, whose lanes are others.
struct AllKeptLanes {
  KeptLanes all, wider;
};

/// The same where it is known which of the runners compute in float32 what is stored in a narrower type.
Arbitration arbitrate_once(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                           std::span<const ArbiterCase> cases, Pass pass,
                           const std::vector<bool>& computes_wider, AllKeptLanes* kept) {
  std::vector<ArbiterCase> wider;
  for (size_t i = 0; i < computes_wider.size(); ++i)
    if (computes_wider[i]) wider.push_back(cases[i]);
  pass.computes_wider = !wider.empty() && wider.size() == cases.size();
  Arbitration all = arbitrate_once(model, feed, cases, pass, kept == nullptr ? nullptr : &kept->all);
  if (wider.empty() || pass.computes_wider) return all;
  pass.computes_wider = true;
  Arbitration own = arbitrate_once(model, feed, wider, pass, kept == nullptr ? nullptr : &kept->wider);
  auto next = own.outputs.begin();
  for (ArbiterVerdict& v : all.outputs)
    if (next != own.outputs.end() && v.runner == next->runner && v.output == next->output)
      v = std::move(*next++);
  return all;
}

/// Of which other noisy evaluations may explain more.
bool may_be_explained(const ArbiterVerdict& v) {
  return v.basis != Basis::kNode && (v.verdict == Verdict::kUnclear || v.verdict == Verdict::kWrong);
}

bool has_quantized(const Model& model) {
  const auto& nodes = model.graph->nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto& n) { return facts_of(*n, model).is_quantized(); });
}

/// What noisy evaluations allow for beside the rounding to expect: a result that they explain is no error.
struct Allowance {
  Excuse excuse;
  const char* note;
};
/// What lies between DequantizeLinear and QuantizeLinear is not known.
constexpr Allowance kLevels = {
    Excuse::kQuantisedSteps,
    "quantised values on the way may have been a step off, as where it is computed in integers"};
constexpr Allowance kOrders = {
    Excuse::kSums, "float32 rounds the sums of these very addends on the way to this, in some order"};

void allow_for(const Allowance& allowance, Arbitration& result, Arbitration other) {
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    ArbiterVerdict &v = result.outputs[i], &w = other.outputs[i];
    const bool explained =
        w.verdict == Verdict::kRounding || w.verdict == Verdict::kAgrees || w.verdict == Verdict::kCannotTell;
    if (!may_be_explained(v) || !explained) continue;
    const std::string also = w.note;
    w.note = allowance.note;
    if (!also.empty()) w.note += "; " + also;
    w.excuses.emplace_back(excuse_name(allowance.excuse));
    v = std::move(w);
  }
}

bool is_close(const ArbiterVerdict& v, std::span<const ArbiterCase> cases) {
  return may_change(v) && !is_left_to_a_trace(v, cases);
}

bool is_any_close(const Arbitration& a, std::span<const ArbiterCase> cases) {
  return std::any_of(a.outputs.begin(), a.outputs.end(),
                     [&](const ArbiterVerdict& v) { return is_close(v, cases); });
}

}  // namespace

bool is_left_to_a_trace(const ArbiterVerdict& v, std::span<const ArbiterCase> cases) {
  return v.verdict == Verdict::kWrong && v.basis != Basis::kNode && v.worst_ratio > kFarBeyond &&
         std::any_of(cases.begin(), cases.end(),
                     [&](const ArbiterCase& c) { return c.traceable && c.runner == v.runner; });
}

bool may_change(const ArbiterVerdict& v) {
  if (v.basis == Basis::kNode && v.worst_ratio <= 1) return false;
  return v.verdict == Verdict::kUnclear ||
         (v.verdict == Verdict::kWrong && !v.certain && v.basis != Basis::kNode) ||
         (v.basis != Basis::kNode && v.verdict == Verdict::kRounding && v.worst_ratio > kNearlyWrong);
}

bool Arbitration::any(Verdict verdict) const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const ArbiterVerdict& o) { return o.verdict == verdict; });
}

bool Arbitration::any_in_body() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const ArbiterVerdict& o) { return !o.body.empty(); });
}

bool Arbitration::all_right() const { return !any(Verdict::kWrong); }

std::string_view verdict_name(Verdict v) {
  switch (v) {
    case Verdict::kAgrees:
      return "agrees";
    case Verdict::kRounding:
      return "rounding only";
    case Verdict::kOpen:
      return "left open by ONNX";
    case Verdict::kInherited:
      return "inherited";
    case Verdict::kUnclear:
      return "unclear";
    case Verdict::kCannotTell:
      return "cannot tell";
    case Verdict::kNotJudged:
      return "not judged";
    case Verdict::kWrong:
      return "WRONG";
  }
  return "";
}

namespace {

/// Where something still seems wrong: by what noisy evaluations show that allow for more.
void explain_otherwise(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                       std::span<const ArbiterCase> cases, Pass pass, const std::vector<bool>& wider,
                       Arbitration& first) {
  if (pass.excuses.allows(Excuse::kQuantisedSteps) && std::ranges::any_of(first.outputs, may_be_explained) &&
      has_quantized(*model)) {
    pass.noisy_levels = true;
    allow_for(kLevels, first, arbitrate_once(model, feed, cases, pass, wider, nullptr));
  }
  const auto stays_wrong = [&](const ArbiterVerdict& v) {
    return may_be_explained(v) && !is_left_to_a_trace(v, cases);
  };
  if (pass.excuses.allows(Excuse::kSums) && std::ranges::any_of(first.outputs, stays_wrong)) {
    pass.noisy_levels = false, pass.sums_in_order = true;
    allow_for(kOrders, first, arbitrate_once(model, feed, cases, pass, wider, nullptr));
  }
}

/// Runners that were asked for the same.
Arbitration arbitrate_alike(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                            std::span<const ArbiterCase> cases, const ArbiterOptions& options,
                            const Asked* asked) {
  Pass pass{.samples = options.samples,
            .seed = options.seed,
            .excuses = ExcuseSet(options.no_excuses),
            .asked = asked};
  AllKeptLanes kept;
  std::vector<ShownArithmetic> shown;
  Arbitration first = arbitrate_once(model, feed, cases, pass, &kept.all, &shown);
  const auto matters = [](const ShownArithmetic& a) { return a.doubtful && a.computes_wider(); };
  std::vector<bool> wider;
  if (std::ranges::any_of(shown, matters)) {
    for (const ShownArithmetic& a : shown) wider.push_back(a.computes_wider());
    kept.all.clear();
    first = arbitrate_once(model, feed, cases, pass, wider, &kept);
  }
  const int most = std::max(options.samples, options.most_samples);
  // What is explained, if barely, is mostly so because few evaluations happen to agree: some more show that.
  while (first.samples < most && is_any_close(first, cases)) {
    const bool is_explained = std::none_of(first.outputs.begin(), first.outputs.end(), [&](const auto& v) {
      return is_close(v, cases) && v.verdict != Verdict::kRounding;
    });
    const int before = first.samples;
    pass.samples = is_explained ? std::min(options.samples + 1, most - before) : most - before;
    ++pass.seed;
    double nearest = 0;
    for (const ArbiterVerdict& v : first.outputs)
      if (is_close(v, cases)) nearest = std::max(nearest, v.worst_ratio);
    diag::verbose(
        "Float64 Verdict | {} noisy evaluation(s) leave it open (at worst {:.2g} times what they explain): "
        "{} more",
        before, nearest, pass.samples);
    first = arbitrate_once(model, feed, cases, pass, wider, &kept);
    first.samples += before;
  }
  pass.samples = most, pass.seed = options.seed + 2;
  explain_otherwise(model, feed, cases, pass, wider, first);
  return first;
}

Tensor tensor_of(const ArbiterCase& c, const Model& model, std::span<const Tensor> feed,
                 const std::string& name) {
  const auto result = std::ranges::find(*c.outputs, name, &NamedStoredTensor::name);
  if (result != c.outputs->end()) return result->tensor.load();
  const auto& inputs = model.graph->inputs;
  const auto input = std::ranges::find_if(inputs, [&](const Value* v) { return v->name() == name; });
  return input == inputs.end() ? Tensor() : feed[static_cast<size_t>(input - inputs.begin())];
}

/// By output in topological order, then as the runners come.
void sort_outputs(const Model& model, std::span<const ArbiterCase> cases, std::vector<ArbiterVerdict>& all) {
  std::unordered_map<std::string, size_t> values, runners;
  for (const auto& v : model.graph->values()) values.emplace(v->name(), values.size());
  for (const ArbiterCase& c : cases) runners.emplace(c.runner, runners.size());
  std::ranges::stable_sort(all, {}, [&](const ArbiterVerdict& o) {
    const auto it = values.find(o.output.substr(0, o.output.find('[')));
    return std::pair(it == values.end() ? values.size() : it->second, runners[o.runner]);
  });
}

}  // namespace

Arbitration arbitrate(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                      std::span<const ArbiterCase> cases, const ArbiterOptions& options) {
  const BlockReuse reuse(int64_t{512} << 20);
  std::vector<ArbiterCase> plain;
  std::vector<const ArbiterCase*> narrow;
  for (const ArbiterCase& c : cases) {
    if (c.asked != nullptr && c.asked->any())
      narrow.push_back(&c);
    else
      plain.push_back(c);
  }
  if (narrow.empty()) return arbitrate_alike(model, feed, cases, options, nullptr);
  Arbitration all;
  if (!plain.empty()) all = arbitrate_alike(model, feed, plain, options, nullptr);
  for (const ArbiterCase* c : narrow) {
    const Asked asked = read_asked(
        *model, *c->asked, [&](const std::string& name) { return tensor_of(*c, *model, feed, name); });
    Arbitration own = arbitrate_alike(model, feed, {c, 1}, options, &asked);
    std::ranges::move(own.outputs, std::back_inserter(all.outputs));
    std::ranges::move(own.shares, std::back_inserter(all.shares));
    all.samples = std::max(all.samples, own.samples);
    all.lanes_lost += own.lanes_lost;
  }
  sort_outputs(*model, cases, all.outputs);
  return all;
}

}  // namespace assay
