// A walk along the values of suspects: the exact network in one frame, and one of differences per suspect.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "assay/interrupt.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "reference/interpreter.h"
#include "reference/walk.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using internal::all_shared;
using internal::Evaluation;
using internal::Frame;
using internal::Lanes;
using internal::Noise;
using internal::Walk;

/// The reason why a value is unknown and cannot be computed.
struct Gap {
  std::string reason;
  const Node* unknown = nullptr;  ///< whose operator is unknown
};

/// The state of one suspect. A value that is not in its frame is the exact network's, including noise.
struct Trail {
  Trail(Suspect& s, const Frame& exact) : suspect(s), frame(Frame::beside(exact)) {}
  Suspect& suspect;
  Frame frame;
  std::unordered_map<const Value*, Gap> missing;
  std::unordered_set<const Value*> taken;                  ///< values that are the suspect's own
  std::unordered_map<const Value*, const Node*> nan_from;  ///< of values in the frame: see Computed

  /// True when the suspect is known to have had all these values.
  bool had(std::span<Value* const> values) const {
    return std::all_of(values.begin(), values.end(), [&](const Value* v) {
      return v->producer() == nullptr || is_op(*v->producer(), "Constant") || taken.contains(v);
    });
  }
  bool knows_all(const Node& n) const {
    return std::all_of(n.outputs().begin(), n.outputs().end(),
                       [&](const Value* v) { return v == nullptr || suspect.has(*v); });
  }
};

class Following {
 public:
  Following(internal::BoundModel& interpreter, const Graph& graph, std::span<Suspect* const> suspects)
      : walk_(interpreter),
        progress_(interpreter.options.progress),
        graph_(graph),
        exact_(graph, lane_numbers(interpreter.options.noisy_lanes)) {
    for (Suspect* s : suspects) trails_.emplace_back(*s, exact_);
  }
  void run(std::span<const Tensor> inputs);

 private:
  static std::vector<size_t> lane_numbers(int noisy) {
    std::vector<size_t> lanes;
    for (int i = 0; i <= noisy; ++i) lanes.push_back(static_cast<size_t>(i));
    return lanes;
  }
  bool anyone_has(const Value& v) const {
    return std::any_of(trails_.begin(), trails_.end(), [&](const Trail& t) { return t.suspect.has(v); });
  }
  /// The nodes on which a suspect's values depend.
  std::unordered_set<const Node*> needed_nodes() const;
  void node(const Node& n);
  void trace_nan(const Node& n, const Frame& frame, Trail* trail);
  void outputs_of(Trail& trail, const Node& n, const Frame& from, const Evaluation& evaluation, bool own);
  Evaluation exact_evaluation(const Node& n, std::span<Value* const> used, Noise noise, Bounds bounds);
  void skip(Trail& trail, const Node& n, const Gap& gap);
  void take(Trail& trail, const Value& v, const Tensor& own, const Lanes& computed = {});
  bool is_exact(const Value& v, const Tensor& own) const;
  Evaluation own_evaluation(const Trail& trail, const Node& n, Frame& frame, Noise noise);

  Walk walk_;
  const std::function<void(size_t, size_t)>& progress_;
  const Graph& graph_;
  Frame exact_;
  std::unordered_map<const Value*, const Node*> nan_from_;  ///< the same in the exact network
  std::unordered_map<const Value*, Gap> missing_;           ///< there, too: after unknown operators
  std::vector<Trail> trails_;
};

bool has_nan(const Tensor& t) {
  if (!t.defined() || t.is_container() || !is_float(t.dtype())) return false;
  const Tensor wide = to_float64(t);
  const double* data = wide.data<double>();
  std::atomic<bool> found = false;
  parallel_for(wide.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int64_t i = first; i < last; ++i) count += std::isnan(data[i]) ? 1 : 0;
    if (count > 0) found = true;
  });
  return found;
}

std::unordered_set<const Node*> Following::needed_nodes() const {
  std::unordered_set<const Node*> nodes;
  std::unordered_set<const Value*> values;
  for (auto n = graph_.nodes().rbegin(); n != graph_.nodes().rend(); ++n) {
    const auto& outputs = (*n)->outputs();
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](const Value* v) { return v != nullptr && (values.contains(v) || anyone_has(*v)); }))
      continue;
    nodes.insert(n->get());
    for (const Value* v : used_values(**n)) values.insert(v);
  }
  return nodes;
}

/// True when it equals the exact network's value in every lane, bit for bit.
bool Following::is_exact(const Value& v, const Tensor& own) const {
  if (own.is_container() || own.dtype() == DType::kString || nan_from_.contains(&v) || missing_.contains(&v))
    return false;
  if (is_float(own.dtype()) && unit_roundoff(own.dtype()) > unit_roundoff(DType::kFloat32)) return false;
  const Lanes exact = walk_.lanes_of(&v, exact_);
  if (!all_shared(exact) || exact[0].is_container() || exact[0].shape() != own.shape()) return false;
  const Tensor wide = walk_.incoming(own);
  return wide.dtype() == exact[0].dtype() && std::memcmp(wide.data(), exact[0].data(), wide.nbytes()) == 0;
}

void Following::take(Trail& trail, const Value& v, const Tensor& own, const Lanes& computed) {
  if (!own.defined()) return;
  // Values equal to the exact network's are evaluated there, once for all suspects.
  if (is_exact(v, own))
    trail.frame.erase(&v);
  else
    trail.frame.set(&v, walk_.own_lanes(own, v, trail.frame, computed));
  trail.taken.insert(&v);
  trail.nan_from.erase(&v);
  if (v.producer() != nullptr && has_nan(own)) trail.nan_from[&v] = v.producer();
}

void Following::outputs_of(Trail& trail, const Node& n, const Frame& from, const Evaluation& evaluation,
                           bool own) {
  const Lanes cast = !own && is_op(n, "Cast") ? walk_.lanes_of(n.input(0), from) : Lanes();
  for (size_t i = 0; i < n.outputs().size(); ++i) {
    const Value* v = n.output(i);
    if (v == nullptr || !trail.suspect.has(*v)) continue;
    Lanes lanes = from.get(v);
    const NodeError* error = own && !evaluation.errors.empty() ? &evaluation.errors[i] : nullptr;
    // Network inputs are the same in all lanes: noise for another suspect is the node's own.
    if (error != nullptr && &from == &exact_) lanes.resize(1);
    const auto& nan_from = &from == &exact_ ? nan_from_ : trail.nan_from;
    const auto nan = nan_from.find(v);
    const Tensor had =
        trail.suspect.compare({.value = *v,
                               .exact = missing_.contains(v) ? Tensor() : exact_.get(v)[0],
                               .lanes = lanes,
                               .own = own,
                               .error = error,
                               .nan_from = own || nan == nan_from.end() ? nullptr : nan->second,
                               .cast = cast});
    take(trail, *v, had, lanes);
  }
}

void Following::skip(Trail& trail, const Node& n, const Gap& gap) {
  for (const Value* v : n.outputs()) {
    if (v == nullptr) continue;
    const Tensor own =
        trail.suspect.has(*v) ? trail.suspect.uncomputed(*v, gap.reason, gap.unknown) : Tensor();
    if (own.defined())
      take(trail, *v, own);
    else
      trail.missing[v] = gap;
  }
}

/// True for an input in another shape: a mapped table need not be read.
bool is_view_of_input(const Node& n, const Tensor& t, const Frame& frame) {
  if (t.is_container() || t.dtype() == DType::kString || t.numel() == 0) return false;
  return std::any_of(n.inputs().begin(), n.inputs().end(), [&](const Value* v) {
    if (v == nullptr) return false;
    if (v->is_constant())
      return v->tensor().defined() && v->tensor().dtype() == t.dtype() && v->tensor().data() == t.data();
    const Lanes* kept = frame.as_kept(v);
    return kept != nullptr && kept->front().shares_storage(t);
  });
}

/// Results from NaN stay in doubt, even if the NaN has disappeared.
void Following::trace_nan(const Node& n, const Frame& frame, Trail* trail) {
  auto& known = trail != nullptr ? trail->nan_from : nan_from_;
  const auto source = [&](const Value* v) -> const Node* {
    if (const auto it = known.find(v); it != known.end()) return it->second;
    if (trail == nullptr || trail->frame.has(v)) return nullptr;
    const auto it = nan_from_.find(v);
    return it != nan_from_.end() ? it->second : nullptr;
  };
  const Node* from = nullptr;
  for (const Value* v : used_values(n))
    if (from == nullptr) from = source(v);
  for (const Value* v : n.outputs()) {
    if (v == nullptr || from != nullptr) continue;
    const Lanes* kept = frame.as_kept(v);
    const Tensor t = kept != nullptr ? kept->front() : frame.get(v)[0];
    if (!is_view_of_input(n, t, frame) && has_nan(t)) from = &n;
  }
  if (from == nullptr) return;
  for (const Value* v : n.outputs())
    if (v != nullptr) known[v] = from;
}

/// True when the values of a node's inputs differ so little that the size of errors does not change.
constexpr double kNextTo = 0x1p-12;
bool is_next_to(const Tensor& a, const Tensor& b) {
  if (a.shares_storage(b)) return true;
  if (!a.defined() || !b.defined() || a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() != DType::kFloat64) return false;
  double largest = 0, apart = 0;
  const auto x = a.span<double>(), y = b.span<double>();
  for (size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(x[i]));
    const double d = std::abs(x[i] - y[i]);
    if (!(d < HUGE_VAL)) return false;
    apart = std::max(apart, d);
  }
  return apart <= kNextTo * largest;
}

/// Evaluates the node on the suspect's values. For an operator with internal error propagation, noisy
/// evaluations show the size of errors. For nearly equal inputs, those of the exact network suffice.
Evaluation Following::own_evaluation(const Trail& t, const Node& n, Frame& frame, Noise noise) {
  const std::vector<Value*> used = used_values(n);
  const Bounds bounds = t.had(used) ? Bounds::kBoth : Bounds::kExpected;
  const auto shown = [&](const Value* v) {
    if (v == nullptr) return true;
    if (missing_.contains(v)) return false;
    const Lanes lanes = exact_.get(v);
    return std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& lane) {
      return lane.dtype() == DType::kFloat64 && lane.shape() == lanes[0].shape();
    });
  };
  const bool is_near = noise == Noise::kInputs && walk_.errs_within(n) &&
                       std::all_of(n.outputs().begin(), n.outputs().end(), shown) &&
                       std::all_of(n.inputs().begin(), n.inputs().end(), [&](const Value* v) {
                         if (v == nullptr) return true;
                         const Lanes own = walk_.lanes_of(v, frame), exact = walk_.lanes_of(v, exact_);
                         return all_shared(own) && all_shared(exact) && is_next_to(exact[0], own[0]);
                       });
  if (!is_near) return walk_.evaluate(n, frame, noise, bounds);
  Evaluation own = walk_.evaluate(n, frame, Noise::kNone, bounds);
  for (const Value* v : n.outputs()) {
    if (v == nullptr) continue;
    Lanes lanes = frame.get(v);
    const Lanes exact = exact_.get(v);
    for (size_t k = 1; k < lanes.size() && lanes[0].shape() == exact[0].shape(); ++k)
      lanes[k] = map_broadcast<double>(
          lanes[0], map_broadcast<double>(exact[k], exact[0], [](double a, double b) { return a - b; }),
          [](double y, double moved) { return std::isnan(moved) ? y : y + moved; });
    frame.set(v, std::move(lanes));
  }
  return own;
}

/// If it cannot be evaluated in the exact network, its outputs are missing there.
Evaluation Following::exact_evaluation(const Node& n, std::span<Value* const> used, Noise noise,
                                       Bounds bounds) {
  const auto behind =
      std::find_if(used.begin(), used.end(), [&](const Value* v) { return missing_.contains(v); });
  Gap gap;
  if (behind != used.end()) {
    gap = missing_.at(*behind);
  } else {
    try {
      Evaluation evaluation = at_node(n, [&] { return walk_.evaluate(n, exact_, noise, bounds); });
      if (noise == Noise::kAdd) trace_nan(n, exact_, nullptr);
      return evaluation;
    } catch (const UnknownOperator& e) {
      gap = {e.what(), &n};
    }
  }
  for (const Value* v : n.outputs())
    if (v != nullptr) missing_[v] = gap;
  return {};
}

void Following::node(const Node& n) {
  const std::vector<Value*> used = used_values(n);
  std::vector<bool> apart;
  Noise noise = Noise::kNone;
  // Bounds require that all values used by the node are known.
  Bounds bounds = Bounds::kExpected;
  const auto bounds_for = [&](const Trail& t) { return t.had(used) ? Bounds::kBoth : Bounds::kExpected; };
  const auto noise_for = [&](const Trail& t) {
    return t.had(used) && t.knows_all(n) ? Noise::kInputs : Noise::kAdd;
  };
  for (const Trail& t : trails_) {
    apart.push_back(std::any_of(used.begin(), used.end(),
                                [&](const Value* v) { return t.frame.has(v) || t.missing.contains(v); }));
    if (!apart.back()) noise = std::max(noise, noise_for(t)), bounds = std::max(bounds, bounds_for(t));
    // See own_evaluation().
    if (apart.back() && walk_.errs_within(n)) noise = std::max(noise, std::min(noise_for(t), Noise::kInputs));
  }
  const Evaluation exact = exact_evaluation(n, used, noise, bounds);
  const auto lacking = std::find_if(n.outputs().begin(), n.outputs().end(),
                                    [&](const Value* v) { return missing_.contains(v); });
  for (size_t i = 0; i < trails_.size(); ++i) {
    Trail& t = trails_[i];
    if (!apart[i]) {
      if (lacking != n.outputs().end())
        skip(t, n, missing_.at(*lacking));
      else
        outputs_of(t, n, exact_, exact, t.had(used));
      continue;
    }
    const auto gap =
        std::find_if(used.begin(), used.end(), [&](const Value* v) { return t.missing.contains(v); });
    if (gap != used.end()) {
      skip(t, n, t.missing.at(*gap));
      continue;
    }
    Evaluation own;
    Gap here;
    try {
      own = own_evaluation(t, n, t.frame, noise_for(t));
    } catch (const UnknownOperator& e) {
      here = {e.what(), &n};
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kInternal) throw;
      here.reason = e.what();
    }
    if (here.reason.empty()) {
      if (noise_for(t) == Noise::kAdd) trace_nan(n, t.frame, &t);
      outputs_of(t, n, t.frame, own, t.had(used));
    } else {
      skip(t, n, here);
    }
  }
}

void Following::run(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) walk_.feed(graph_.inputs[i], inputs[i], exact_);
  for (const auto& v : graph_.values()) {
    if (v->producer() != nullptr || !anyone_has(*v)) continue;
    const Lanes lanes = walk_.lanes_of(v.get(), exact_);
    const NodeError exact;
    for (Trail& t : trails_)
      if (t.suspect.has(*v))
        t.suspect.compare({.value = *v, .exact = lanes[0], .lanes = lanes, .own = true, .error = &exact});
  }
  const std::unordered_set<const Node*> needed = needed_nodes();
  std::unordered_map<const Value*, int> uses;
  for (const Node* n : needed)
    for (const Value* v : used_values(*n)) ++uses[v];
  const auto forget = [&](const Value* v) {
    exact_.erase(v);
    nan_from_.erase(v);
    missing_.erase(v);
    for (Trail& t : trails_) {
      t.frame.erase(v);
      t.missing.erase(v);
      t.taken.erase(v);
      t.nan_from.erase(v);
    }
  };
  size_t done = 0;
  for (const auto& n : graph_.nodes()) {
    if (!needed.contains(n.get())) continue;
    stop_if_interrupted();
    if (progress_) progress_(done++, needed.size());
    node(*n);
    for (const Value* v : n->outputs())
      if (v != nullptr && uses[v] == 0) forget(v);
    for (const Value* v : used_values(*n))
      if (--uses[v] == 0) forget(v);
  }
}

}  // namespace

void Interpreter::follow(std::span<const Tensor> inputs, std::span<Suspect* const> suspects) {
  const Graph& g = *impl_->model->graph;
  require(inputs.size() == g.inputs.size(), ErrorCode::kInvalidArgument,
          "the model takes {} inputs, but {} are given", g.inputs.size(), inputs.size());
  Following(*impl_, g, suspects).run(inputs);
}

}  // namespace assay
