#include "arbiter/suspect_run.h"

#include <algorithm>
#include <cmath>

#include "arbiter/excuse.h"
#include "arbiter/judge.h"
#include "arbiter/jumps.h"
#include "arbiter/left_open.h"
#include "arbiter/levels.h"
#include "arbiter/pattern.h"
#include "arbiter/unrounded.h"
#include "arbiter/within_bounds.h"
#include "graph/order.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "reference/evaluate.h"
#include "reference/quantisation_scale.h"
#include "tensor/convert.h"
#include "tensor/value_tensors.h"

namespace assay {
namespace {

DType declared_dtype(const Value& v) { return v.type.is_tensor() ? v.type.dtype : DType::kUndefined; }

bool is_bad(Verdict v) { return v == Verdict::kWrong || v == Verdict::kUnclear; }

bool is_narrow_float(DType t) { return is_float(t) && unit_roundoff(t) > unit_roundoff(DType::kFloat32); }

/// Whether a result is quantised values: of few bits, or what a quantisation gives.
bool is_level(const Value& v, DType dtype, const Model& model) {
  return is_integer(dtype) && (bit_width(dtype) <= 8 ||
                               (v.producer() != nullptr && facts_of(*v.producer(), model).is_quantized()));
}

/// Whether a result is places of numbers that its node compares.
bool is_choice(const Value& v, DType dtype, const Model& model) {
  const Node* n = v.producer();
  return n != nullptr && is_integer(dtype) && !facts_of(*n, model).compares.empty() &&
         n->input(0) != nullptr && is_float(declared_dtype(*n->input(0)));
}

/// The largest distance, and the exact value there.
void measure_distance(const Tensor& result, const Tensor& exact, ArbiterVerdict& out) {
  if (result.shape() != exact.shape() || !is_float(exact.dtype()) || !is_float(result.dtype())) return;
  const Distance distance = largest_distance(result, exact);
  if (distance.at < 0) return;
  out.max_error = distance.most;
  out.exact = exact.data<double>()[distance.at];
}

/// Whether these nodes, more than one, are the body of one call of a local function.
bool are_one_call(std::span<const Node* const> nodes) {
  std::vector<std::string> call;
  size_t count = 0;
  for (const Node* n : nodes) {
    if (is_op(*n, "Constant")) continue;
    std::vector<std::string> origins = origins_of(*n);
    if (count++ == 0)
      call = std::move(origins);
    else if (origins != call)
      return false;
  }
  return count > 1;
}

/// What a normalisation gives of zeros, whatever it divides by.
Tensor offset_of(const Trial& trial, const Shape& shape) {
  if (!trial.usable() || trial.op().facts.sums != SumsFact::kByRootOfSquares || trial.output() != 0)
    return {};
  std::vector<Tensor> inputs = trial.inputs();
  if (inputs.empty() || !inputs[0].defined() || inputs[0].dtype() != DType::kFloat64) return {};
  inputs[0] = Tensor::zeros(DType::kFloat64, inputs[0].shape());
  const Tensor offset = trial.evaluate(std::move(inputs));
  return offset.defined() && offset.dtype() == DType::kFloat64 && offset.shape() == shape ? offset : Tensor();
}

/// Elements that are no numbers in one of both and numbers in the other.
struct SpecialDifferences {
  int64_t in_result = 0, in_exact = 0;
  SpecialDifferences(const Tensor& result, const Tensor& exact) {
    if (result.shape() != exact.shape() || !is_float(exact.dtype()) || !is_float(result.dtype())) return;
    const Tensor wide = convert(result, DType::kFloat64);
    const double *r = wide.data<double>(), *y = exact.data<double>();
    for (int64_t i = 0; i < exact.numel(); ++i) {
      in_result += !std::isfinite(r[i]) && std::isfinite(y[i]);
      in_exact += std::isfinite(r[i]) && !std::isfinite(y[i]);
    }
  }
  bool any() const { return in_result + in_exact > 0; }
};

}  // namespace

Tensor SuspectRun::step_of(const Value& v, const Shape& shape) const {
  const Node* n = v.producer();
  if (n == nullptr || n->op_type != "DequantizeLinear" || n->input(1) == nullptr) return {};
  return dequantised_step(*n, seen(*n->input(1)), shape);
}

std::vector<std::string> variable_inputs(const Node& n) {
  std::vector<std::string> names;
  for (const Value* v : used_values(n))
    if (!v->is_constant() && (v->producer() == nullptr || !is_op(*v->producer(), "Constant")))
      names.push_back(v->name());
  return names;
}

SuspectRun::SuspectRun(const Model& model, std::span<const Tensor> feed, const ArbiterCase& results,
                       std::vector<ArbiterVerdict>& verdicts, KeptLanes* kept, bool computes_wider,
                       bool noisy_levels, const ExcuseSet& excuses, const Asked* asked)
    : model_(model),
      feed_(feed),
      runner_(results.runner),
      verdicts_(verdicts),
      kept_(kept),
      computes_wider_(computes_wider),
      noisy_levels_(noisy_levels),
      excuses_(excuses),
      asked_(asked) {
  for (const NamedStoredTensor& t : *results.outputs) results_.emplace(t.name, &t.tensor);
}

bool SuspectRun::has(const Value& v) const {
  return results_.contains(v.name()) || results_.contains(length_name(v.name())) ||
         results_.contains(keys_name(v.name()));
}

/// What is constant and what was fed, too.
Tensor SuspectRun::seen(const Value& v) const {
  if (v.is_constant()) return v.tensor().aligned();
  if (v.producer() != nullptr && is_op(*v.producer(), "Constant"))
    return evaluate_node(*v.producer(), require_op(*v.producer(), model_), {}).at(0);
  const auto& inputs = model_.graph->inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] == &v) return feed_[i];
  return value_of(v.name(), v.type.kind == Type::Kind::kOptional ? DType::kOptional : DType::kSequence,
                  [&](const std::string& name) {
                    const auto it = results_.find(name);
                    return it == results_.end() ? Tensor() : it->second->load();
                  });
}

SuspectRun::Upstream SuspectRun::upstream(const Value& v) const {
  Upstream found;
  std::unordered_set<const Value*> visited;
  std::vector<const Value*> ahead{&v};
  while (!ahead.empty()) {
    const Value* next = ahead.back();
    ahead.pop_back();
    if (next->producer() == nullptr || !visited.insert(next).second) continue;
    if (next != &v && has(*next)) {
      found.known = true;
      found.sources.push_back(next->name());
      found.spoiled = found.spoiled || spoiled_.contains(next);
      found.unjudged = found.unjudged || unjudged_.contains(next);
      continue;
    }
    if (found.between.empty() || found.between.back() != next->producer())
      found.between.push_back(next->producer());
    if (next != &v && found.open == nullptr && is_random(*next->producer(), model_))
      found.open = next->producer();
    for (const Value* u : used_values(*next->producer())) ahead.push_back(u);
  }
  return found;
}

void SuspectRun::count(ComputedIn shown) {
  arithmetic_.wider += shown == ComputedIn::kWider;
  arithmetic_.declared += shown == ComputedIn::kDeclared || shown == ComputedIn::kBeyondWider;
  arithmetic_.doubtful =
      arithmetic_.doubtful || shown == ComputedIn::kDoubtful || shown == ComputedIn::kBeyondWider;
}

ArbiterVerdict SuspectRun::blank(const Value& v, const std::string& name) const {
  ArbiterVerdict out;
  out.runner = runner_;
  out.output = name;
  if (v.producer() == nullptr) return out;
  out.node = v.producer()->label();
  out.op_type = v.producer()->op_type;
  out.inputs = variable_inputs(*v.producer());
  const std::vector<Value*> used = used_values(*v.producer());
  out.from_feed = std::all_of(used.begin(), used.end(), [](const Value* u) {
    return u->producer() == nullptr || is_op(*u->producer(), "Constant");
  });
  return out;
}

SuspectNode SuspectRun::node_of(const Value& v) const {
  return {*v.producer(), model_, v, [this](const Value& input) { return seen(input); }};
}

void SuspectRun::set_standard(Judged& j) const {
  const Value& v = j.value;
  const Computed& computed = j.computed;
  const bool has_node = v.producer() != nullptr;
  j.standard = {.lanes = j.lanes,
                .error = j.whole ? computed.error : nullptr,
                .basis = computed.own     ? Basis::kNode
                         : j.before.known ? Basis::kRegion
                                          : Basis::kNetwork,
                .declared = j.whole ? declared_dtype(v) : DType::kUndefined,
                .one_call = are_one_call(j.before.between),
                .is_recurrence = j.whole && computed.own && has_node &&
                                 facts_of(*v.producer(), model_).recurrent.has_value(),
                .keeps_numbers = has_node && keeps_numbers(*v.producer(), model_),
                .noisy_levels = noisy_levels_,
                .is_level = is_level(v, j.stored.dtype(), model_),
                .is_choice = is_choice(v, j.stored.dtype(), model_),
                .step = step_of(v, j.stored.shape()),
                .computes_wider = computes_wider_,
                .exact = j.exact.defined() && !j.exact.shares_storage(j.lanes[0]) ? &j.exact : nullptr,
                .excuses = excuses_};
}

ComputedIn SuspectRun::measure(Judged& j) const {
  set_standard(j);
  if (j.standard.error != nullptr && j.computed.own && is_narrow_float(j.stored.dtype()) &&
      j.value.producer() != nullptr) {
    const SuspectNode node = node_of(j.value);
    const Trial trial(node);
    j.standard.reach = reach_of_inputs(trial, node, j.lanes);
    j.standard.offset = offset_of(trial, j.stored.shape());
  }
  return judge_result(j.stored, j.standard, j.out);
}

void SuspectRun::excuse_result(Judged& j) const {
  ArbiterVerdict& out = j.out;
  if (!is_bad(out.verdict) || j.value.producer() == nullptr) return;
  const auto open = [&](Excuse e, std::string note) {
    out.verdict = Verdict::kOpen;
    out.note = std::move(note);
    excused_by(e, out);
  };
  if (j.before.open != nullptr && excuses_.allows(Excuse::kRandomBefore)) {
    open(Excuse::kRandomBefore,
         fmt::format("it depends on the random numbers of node {}", j.before.open->label()));
  } else if (j.computed.nan_from != nullptr && excuses_.allows(Excuse::kNanOfModel)) {
    open(Excuse::kNanOfModel,
         fmt::format(
             "the model's own numbers become NaN at node {}, and what nodes make of that ONNX leaves open",
             j.computed.nan_from->label()));
  } else if (j.whole) {
    if (excuses_.allows(Excuse::kUnknownCast) && is_open_cast(j.computed.cast, j.stored, j.standard, out))
      excused_by(Excuse::kUnknownCast, out);
    else
      excuse(node_of(j.value), j.stored, j.standard, out);
  }
}

void SuspectRun::hold_to_jumps(Judged& j) const {
  if (!j.whole || j.out.basis != Basis::kNode || j.value.producer() == nullptr) return;
  const Tensor& exact = j.lanes[0];
  const bool seems_wrong =
      j.out.verdict == Verdict::kWrong && j.stored.shape() == exact.shape() &&
      j.stored.dtype() == (is_float(exact.dtype()) ? j.standard.declared : exact.dtype());
  if (j.out.verdict == Verdict::kRounding || seems_wrong)
    judge_jumps(node_of(j.value), j.stored, j.lanes, excuses_, j.out);
}

bool SuspectRun::is_inherited(const Judged& j) const {
  const bool right = j.out.verdict == Verdict::kAgrees || j.out.verdict == Verdict::kRounding;
  const bool open = j.out.verdict == Verdict::kOpen && !is_random(*j.value.producer(), model_);
  if (!right && !open) return false;
  // Bounds from inputs that are no numbers explain anything.
  Standard network{.lanes = {&j.exact, 1}, .declared = j.standard.declared};
  if (right) network.error = j.computed.error, network.basis = Basis::kNode;
  ArbiterVerdict heir = j.out;
  judge_result(j.stored, network, heir);
  return heir.verdict == Verdict::kWrong || (open && heir.verdict == Verdict::kUnclear) ||
         SpecialDifferences(j.stored.load(), j.exact).any();
}

void SuspectRun::classify(Judged& j) const {
  ArbiterVerdict& out = j.out;
  if (j.exact.defined() && (out.problem.empty() || out.verdict == Verdict::kUnclear))
    measure_distance(j.stored.load(), j.exact, out);
  if (std::isinf(out.max_error) && !is_bad(out.verdict))
    out.follows =
        std::max<int64_t>(0, SpecialDifferences(j.stored.load(), j.exact).in_result - out.overflows);
  if (j.before.spoiled && j.whole && j.exact.defined() && is_inherited(j)) out.verdict = Verdict::kInherited;
}

void SuspectRun::attribute(Judged& j) {
  ArbiterVerdict& out = j.out;
  if (out.verdict == Verdict::kWrong) out.excuses.clear();
  if (is_bad(out.verdict) && out.basis == Basis::kRegion)
    for (auto n = j.before.between.rbegin(); n != j.before.between.rend(); ++n)
      if (!is_op(**n, "Constant")) out.region.push_back((*n)->label());
  if (out.verdict == Verdict::kWrong && out.problem.empty())
    out.pattern = describe_pattern(j.stored, j.lanes[0], out);
  if (is_bad(out.verdict) || out.verdict == Verdict::kInherited) spoiled_.insert(&j.value);
}

void SuspectRun::set_asked(Judged& j) {
  const bool is_node = j.out.basis == Basis::kNode && j.value.producer() != nullptr;
  if (j.value.producer() != nullptr && is_float(j.stored.dtype()))
    j.out.computed_in = asked_->of(is_node ? j.value.producer() : nullptr);
  if (is_node && j.whole && j.exact.defined() && is_float(j.stored.dtype()))
    shares_.add(j.out, to_float64(j.stored.load()), j.lanes[0], j.exact, j.before.sources);
}

void SuspectRun::judge_tensor(const Computed& computed, const std::string& name,
                              std::span<const Tensor> lanes, const Tensor& exact, const Upstream& before) {
  const auto it = results_.find(name);
  if (it == results_.end()) return;
  const Value& v = computed.value;
  Judged j{.computed = computed,
           .value = v,
           .stored = *it->second,
           .exact = exact,
           .before = before,
           .whole = name == v.name(),
           .lanes = {lanes.begin(), lanes.end()},
           .standard = {},
           .out = blank(v, name)};
  if (kept_ != nullptr && !computed.own)
    if (auto kept = kept_->extract({runner_, name}))
      std::ranges::copy(kept.mapped(), std::back_inserter(j.lanes));
  const ComputedIn shown = measure(j);
  excuse_result(j);
  hold_to_jumps(j);
  if (j.whole && j.out.basis == Basis::kNode) hold_to_levels(j.stored, j.standard, j.before.spoiled, j.out);
  if (j.whole && j.out.basis == Basis::kNode && asked_ != nullptr && asked_->lowering.u > 0)
    hold_to_size(j.stored, j.standard, j.out);
  if (!is_bad(j.out.verdict)) count(shown);
  classify(j);
  attribute(j);
  if (asked_ != nullptr) set_asked(j);
  if (kept_ != nullptr && !computed.own && may_change(j.out))
    kept_->emplace(std::pair(runner_, name), std::vector<Tensor>(j.lanes.begin() + 1, j.lanes.end()));
  verdicts_.push_back(std::move(j.out));
  j.stored.release();
}

Tensor SuspectRun::compare(const Computed& computed) {
  const Value& v = computed.value;
  const Upstream before = upstream(v);
  const std::span<const Tensor> lanes = computed.lanes;
  if (!lanes[0].is_container()) {
    judge_tensor(computed, v.name(), lanes, computed.exact, before);
  } else {
    // What all lanes have is judged. An element that only some have shows in the lengths.
    std::vector<std::string> names;
    std::unordered_map<std::string, std::vector<Tensor>> parts;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      for_each_tensor(v.name(), lanes[lane], [&](const std::string& name, Tensor tensor) {
        if (lane == 0) names.push_back(name);
        parts[name].push_back(std::move(tensor));
      });
    for (const std::string& name : names)
      if (parts[name].size() == lanes.size()) judge_tensor(computed, name, parts[name], {}, before);
  }
  Tensor own = seen(v);
  const bool fits = own.defined() && own.is_container() == lanes[0].is_container() &&
                    (own.is_container() || is_float(own.dtype()) == is_float(lanes[0].dtype()));
  return fits ? own : Tensor();
}

Tensor SuspectRun::uncomputed(const Value& v, const std::string& reason, const Node* unknown) {
  ArbiterVerdict out = blank(v, v.name());
  if (const auto it = results_.find(v.name()); it != results_.end()) {
    out.dtype = it->second->dtype();
    out.shape = it->second->shape();
    out.elements = it->second->numel();
  }
  out.basis = Basis::kNode;
  if (unknown != nullptr) {
    out.verdict = Verdict::kNotJudged;
    out.lacking = unknown->label();
    out.note =
        unknown == v.producer() ? reason : fmt::format("it depends on node {}: {}", out.lacking, reason);
  } else {
    const Upstream before = upstream(v);
    // What an error before has made impossible is that error's.
    out.verdict = before.spoiled || before.unjudged ? Verdict::kInherited : Verdict::kNotJudged;
    out.note = "on this runner's own inputs the node cannot be evaluated: " + reason;
    (out.verdict == Verdict::kInherited ? spoiled_ : unjudged_).insert(&v);
  }
  verdicts_.push_back(std::move(out));
  return seen(v);
}

}  // namespace assay
