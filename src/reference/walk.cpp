#include "reference/walk.h"

#include <algorithm>
#include <cmath>

#include "base/memory_limit.h"
#include "graph/order.h"
#include "graph/read.h"
#include "kernels/noise/noise.h"
#include "ops/eval_util.h"
#include "ops/moves.h"
#include "ops/work.h"
#include "reference/quantisation_scale.h"
#include "reference/stacked_lanes.h"
#include "tensor/container.h"
#include "tensor/convert.h"

namespace assay::internal {
namespace {

/// Minimum steps of any node: to find its inputs, to allocate its outputs.
constexpr int64_t kNodeWork = 1000;

DType declared_dtype(const Value* v) { return v != nullptr ? leaf_dtype(v->type) : DType::kUndefined; }

/// True for the lane that models a backend without overflow, which
/// computes float16 models in float32 or in an order that stays in
/// range. Other lanes show overflows, and this one the result without.
bool has_room(size_t lane) { return lane % 2 == 1; }

/// Larger numbers become infinite in the type.
double overflow_threshold(DType t, size_t lane) {
  if (has_room(lane)) return HUGE_VAL;
  switch (t) {
    case DType::kFloat16:
      return 65520;
    case DType::kFloat64:
      return HUGE_VAL;
    default:
      return 0x1.ffffffp127;
  }
}

/// The loss of subnormal numbers of a type: half their spacing in float16, which all backends support; all of
/// them in others, where backends may flush them to 0.
double rounding_near_zero(DType t) {
  switch (t) {
    case DType::kFloat16:
      return 0x1p-25;
    case DType::kFloat64:
      return 0x1p-1022;
    default:
      return 0x1p-126;
  }
}

/// y with random errors within the bound, plus `absolute` if given; infinite on overflow of the type; NaN
/// where the bound of a number is infinite. In a subgraph, which may run repeatedly, `run` distinguishes its
/// runs; outside it is 0.
Tensor perturbed(Tensor y, const Tensor& bound, uint64_t key, uint64_t run, double absolute = 0,
                 double overflow = HUGE_VAL) {
  const double* pb = bound.data<double>();
  const double* py = y.data<double>();
  Tensor out = y.owns_alone() ? std::move(y) : Tensor::allocate(DType::kFloat64, y.shape());
  auto* po = out.mutable_data<double>();
  const kernels::RandomErrors errors{.key = run == 0 ? key : mix_key(key, run),
                                     .repeated_key = key,
                                     .repeats = run != 0,
                                     .beside = absolute,
                                     .overflow = overflow};
  parallel_for(out.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    kernels::add_random_errors(errors, static_cast<uint64_t>(first), last - first, py + first, pb + first,
                               po + first);
  });
  return out;
}

/// Infinite if sums may overflow: perturbed() then returns NaN.
Tensor unbounded_where(const Tensor& bound, const Tensor& overflow) {
  return map_broadcast<double>(bound, overflow,
                               [](double b, double bits) { return bits != 0 ? HUGE_VAL : b; });
}

}  // namespace

bool all_shared(const Lanes& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) { return t.shares_storage(lanes[0]); });
}

namespace {

/// Runs the subgraphs of one node for one lane.
class LaneSubgraphs final : public SubgraphRunner {
 public:
  LaneSubgraphs(Walk& walk, const Frame& frame, size_t lane) : walk_(walk), frame_(frame), lane_(lane) {}
  std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) override {
    return walk_.subgraph(graph, std::move(inputs), frame_, lane_);
  }

 private:
  Walk& walk_;
  const Frame& frame_;
  size_t lane_;
};

/// Unit roundoff of each output by its
/// declared type; without one, of float32.
std::vector<double> unit_roundoffs(const Node& n) {
  std::vector<double> u;
  for (const Value* v : n.outputs()) {
    const DType declared = declared_dtype(v);
    u.push_back(unit_roundoff(declared == DType::kUndefined ? DType::kFloat32 : declared));
  }
  return u;
}

}  // namespace

Lanes Frame::widened_lanes(const Lanes& lanes) {
  Lanes wide(lanes.size(), widened(lanes.empty() ? Tensor() : lanes[0]));
  for (size_t k = 1; k < lanes.size(); ++k)
    if (!lanes[k].shares_storage(lanes[0])) wide[k] = widened(lanes[k]);
  return wide;
}

std::optional<std::vector<Lanes>> Walk::kept_inputs(const Node& n, const Frame& frame) const {
  std::vector<Lanes> inputs;
  DType floats = DType::kUndefined;
  for (const Value* v : n.inputs()) {
    const Lanes* kept = nullptr;
    for (const Frame* at = &frame; v != nullptr && kept == nullptr && at != nullptr; at = at->outer())
      kept = at->as_kept(v);
    const bool is_constant = kept == nullptr && v != nullptr && v->is_constant() && v->tensor().defined();
    if (kept != nullptr && !kept->empty() && all_shared(*kept))
      inputs.emplace_back(frame.lanes().size(), kept->front());
    else if (kept != nullptr && kept->size() == frame.lanes().size())
      inputs.push_back(*kept);
    else if (is_constant)
      inputs.emplace_back(frame.lanes().size(), v->tensor().aligned());
    else
      inputs.push_back(lanes_of(v, frame));
    for (const Tensor& t : inputs.back()) {
      if (!t.defined() || (!t.is_container() && !is_float(t.dtype()))) continue;
      const DType given = t.is_container() ? DType::kFloat64 : t.dtype();
      if (floats == DType::kUndefined) floats = given;
      if (floats != given) return std::nullopt;
    }
  }
  return inputs;
}

Lanes Walk::lanes_of(const Value* v, const Frame& frame) const {
  if (v == nullptr) return Lanes(frame.lanes().size());
  if (!v->is_constant() || frame.has(v)) return frame.get(v);
  require(v->tensor().defined(), ErrorCode::kNotFound, "the data of initializer '{}' were not loaded",
          v->name());
  const auto [it, is_new] = constants_.try_emplace(v);
  if (is_new) it->second = incoming(v->tensor().aligned());
  return Lanes(frame.lanes().size(), it->second);
}

void Walk::feed(const Value* input, const Tensor& t, Frame& frame) const {
  if (t.is_container() || !impl_.ideal()) return frame.set(input, Lanes(frame.lanes().size(), incoming(t)));
  frame.set_stored(input, Lanes(frame.lanes().size(), t));
}

/// In the stored types. Values without a declared type, unless from an unknown operator, are float32.
std::vector<Tensor> Walk::evaluate_foreign(const Node& n, std::vector<Tensor> inputs) {
  for (size_t i = 0; impl_.ideal() && i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    DType stored = declared_dtype(n.input(i));
    if (const auto it = impl_.foreign_types.find(n.input(i)); it != impl_.foreign_types.end())
      stored = it->second;
    inputs[i] = rounded(inputs[i], is_float(stored) ? stored : DType::kFloat32);
  }
  std::vector<Tensor> y = impl_.options.foreign->evaluate(n, inputs);
  for (size_t i = 0; i < y.size(); ++i) {
    if (!y[i].defined()) continue;
    impl_.foreign_types[n.output(i)] = y[i].dtype();
    if (impl_.ideal()) y[i] = widened(y[i]);
  }
  return y;
}

std::vector<Tensor> Walk::evaluate_lane(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                        size_t lane, bool stored_types) {
  const auto& [op, key] = impl_.nodes.at(&n);
  if (op.op == &kForeignOp) return evaluate_foreign(n, std::move(inputs));
  if (op.op == &kUnknownOp)
    throw UnknownOperator(fmt::format("the operator {} of domain '{}' is unknown", n.op_type,
                                      n.domain.empty() ? "ai.onnx" : n.domain));
  const bool widen = op.op->types != EvalTypes::kAsStored;
  check_values(*op.op, *op.version, inputs, impl_.ideal());
  const DType stored = first_float(inputs);  // of a floating output that the model does not declare
  for (Tensor& t : inputs)
    if (widen) t = widened(t);
  LaneSubgraphs subgraphs(*this, frame, lane);
  EvalContext c(n, *op.op, *op.version, std::move(inputs), &subgraphs);
  c.ideal = impl_.ideal();
  if (lane != 0 && op.op->numerics.perturb != nullptr)
    op.op->numerics.perturb(c, std::ranges::max(unit_roundoffs(n)), mix_key(mix_key(key, lane), frame.run()));
  else
    op.version->eval(c);
  std::vector<Tensor> y = std::move(c.outputs());
  for (size_t i = 0; i < y.size(); ++i) {
    if (!y[i].defined()) continue;
    const DType declared = declared_dtype(n.output(i));
    if (stored_types) continue;
    if (impl_.ideal())
      y[i] = widened(y[i]);
    else if (widen)
      y[i] = rounded(y[i], is_float(declared) ? declared : stored);
  }
  return y;
}

std::vector<Tensor> Walk::evaluate_noisy(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                         size_t lane, const std::vector<Lanes>& outputs) {
  try {
    return evaluate_lane(n, std::move(inputs), frame, lane);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal || frame.run() != 0) throw;
  }
  ++impl_.lanes_lost;
  std::vector<Tensor> y;
  for (const Lanes& lanes : outputs) y.push_back(lanes[0]);
  return y;
}

/// Integers are exact, also for operators that also multiply floats.
std::vector<NodeError> Walk::errors_of(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                       const std::vector<Lanes>& outputs, Bounds bounds) {
  std::vector<Tensor> y;
  for (const Lanes& lanes : outputs) y.push_back(lanes[0]);
  bool rounds = false;
  for (const Tensor& t : y) rounds = rounds || may_hold_floats_but(t, DType::kUndefined);
  if (!rounds) return std::vector<NodeError>(y.size());
  const auto& [op, key] = impl_.nodes.at(&n);
  LaneSubgraphs subgraphs(*this, frame, frame.lanes()[0]);
  EvalContext exact(n, *op.op, *op.version, std::move(inputs), &subgraphs);
  exact.ideal = true;
  std::vector<NodeError> errors = node_errors(exact, y, unit_roundoffs(n), bounds);
  if (impl_.options.lowering != nullptr) add_lowered_errors(exact, *impl_.options.lowering, y, errors);
  return errors;
}

void Walk::add_noise(const Node& n, const Frame& frame, const std::vector<NodeError>& errors,
                     std::vector<Lanes>& outputs) const {
  const uint64_t key = impl_.nodes.at(&n).key;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor bound = errors[i].expected;
    if (!bound.defined()) continue;
    if (const double u = unit_roundoff(declared_dtype(n.output(i)));
        impl_.options.computes_wider && u > unit_roundoff(DType::kFloat32))
      bound = map_broadcast<double>(bound, outputs[i][0], [=](double b, double y) {
        return std::min(b, u * std::abs(y) + b * unit_roundoff(DType::kFloat32) / u);
      });
    const Tensor leaving = errors[i].overflow.defined() ? unbounded_where(bound, errors[i].overflow) : bound;
    for (size_t k = 0; k < outputs[i].size(); ++k)
      if (frame.lanes()[k] != 0 && outputs[i][k].shape() == bound.shape())
        outputs[i][k] = perturbed(std::move(outputs[i][k]), has_room(frame.lanes()[k]) ? bound : leaving,
                                  mix_key(mix_key(key, frame.lanes()[k]), i), frame.run(),
                                  rounding_near_zero(declared_dtype(n.output(i))),
                                  overflow_threshold(declared_dtype(n.output(i)), frame.lanes()[k]));
  }
}

namespace {

/// True when there is no memory for a result of known shape: the evaluation then fails immediately.
bool exceeds_memory(const Node& n) {
  const int64_t left = memory_left();
  return std::ranges::any_of(n.outputs(), [&](const Value* v) {
    const std::optional<Shape> shape =
        v != nullptr && v->type.has_shape() ? known_shape(*v->type.dims) : std::nullopt;
    int64_t elements = 1;
    if (shape)
      for (const int64_t extent : *shape)
        if (__builtin_mul_overflow(elements, extent, &elements)) return true;
    return shape && elements / 8 > left;
  });
}

}  // namespace

/// Estimates the node's work. In a loop types
/// leave extents open: actual inputs always count.
void Walk::charge(const Node& n, const std::vector<Lanes>& inputs) {
  if (impl_.options.max_work == INT64_MAX) return;
  int64_t given = kNodeWork;
  for (const Lanes& l : inputs) given += l[0].defined() ? l[0].numel() : 0;
  const int64_t work = std::max(given, work_estimate(n, impl_.nodes.at(&n).op.op));
  if (work > work_left_) {
    if (exceeds_memory(n)) return;
    throw TooMuchWork(
        ErrorCode::kUnsupported,
        fmt::format("it takes more than {} steps, too long to be computed here", impl_.options.max_work));
  }
  work_left_ -= work;
}

namespace {

/// The inputs of a node that rounds to steps, shifted alternately towards 0 and away, so that ties round
/// either way.
std::vector<Tensor> with_other_scale(const Node& n, const OpFacts& facts, std::vector<Tensor> inputs,
                                     size_t lane) {
  return with_moved_quotient(n, facts, std::move(inputs), lane % 2 == 0 ? 1 : -1,
                             unit_roundoff(DType::kFloat32));
}

/// A cast to a narrow type, which a backend that computes in float32 omits.
bool may_not_overflow(const Node& n) {
  return (is_op(n, "Cast") || is_op(n, "CastLike")) && n.output(0) != nullptr &&
         unit_roundoff(declared_dtype(n.output(0))) > unit_roundoff(DType::kFloat32);
}

/// The cast value, but infinite only where x is.
Tensor without_overflow(const Tensor& cast, const Tensor& x) {
  if (cast.dtype() != DType::kFloat64 || x.dtype() == DType::kString) return cast;
  const auto y = cast.span<double>();
  if (std::none_of(y.begin(), y.end(), [](double v) { return std::isinf(v); })) return cast;
  return map_broadcast<double>(cast, convert(x, DType::kFloat64),
                               [](double c, double v) { return std::isinf(c) ? v : c; });
}

/// Quantized values moved by -1, 0 or 1 at random, within the range of their type.
Tensor with_other_levels(const Tensor& t, uint64_t key) {
  Tensor moved = convert(t, DType::kFloat64);
  const auto width = static_cast<int>(bit_width(t.dtype()));
  const bool is_signed = is_signed_integer(t.dtype());
  const double low = is_signed ? -std::ldexp(1, width - 1) : 0,
               high = std::ldexp(1, is_signed ? width - 1 : width) - 1;
  auto* x = moved.mutable_data<double>();
  for (int64_t i = 0; i < moved.numel(); ++i)
    x[i] = std::clamp(x[i] + static_cast<double>(mix_key(key, static_cast<uint64_t>(i)) % 3) - 1, low, high);
  return convert(moved, t.dtype());
}

/// Perturbs each number by a rounding error with the unit roundoff u.
Tensor rounded_at_random(const Tensor& t, double u, uint64_t key) {
  if (!t.defined() || t.dtype() != DType::kFloat64) return t;
  return perturbed(map_elements<double>(t, [](double x) { return x; }),
                   map_elements<double>(t, [=](double x) { return u * std::abs(x); }), key, 0);
}

bool differ_in_first_alone(const std::vector<Lanes>& inputs) {
  return !inputs.empty() && std::all_of(inputs.begin() + 1, inputs.end(), all_shared);
}

}  // namespace

Evaluation Walk::evaluate(const Node& n, Frame& frame, Noise wanted, Bounds bounds) {
  if (constants_of_ != &n) constants_.clear();
  constants_of_ = &n;
  std::vector<Lanes> inputs;
  // Lanes that agree on every input are evaluated once.
  const bool perturbs = impl_.nodes.at(&n).op.op->numerics.perturb != nullptr;
  const bool noisy = frame.lanes().back() != 0 && wanted != Noise::kNone;
  bool alike = true;
  const bool moves = impl_.ideal() && moves_elements(*impl_.nodes.at(&n).op.op);
  std::optional<std::vector<Lanes>> kept;
  if (moves) kept = kept_inputs(n, frame);
  const bool stored = kept.has_value();
  if (stored)
    inputs = std::move(*kept);
  else
    for (const Value* v : n.inputs()) inputs.push_back(lanes_of(v, frame));
  for (const Lanes& l : inputs) alike = alike && all_shared(l);
  const OpFacts& facts = impl_.nodes.at(&n).op.op->facts;
  const bool steps = wanted == Noise::kAdd && quantisation_scale_input(n, facts) >= 0;
  const bool levels = wanted == Noise::kAdd && impl_.options.noisy_levels && facts.is_quantized();
  const bool bounded = !has_subgraph(n) && !perturbs && !steps && !levels;
  const bool once = !noisy || (alike && bounded);
  charge(n, inputs);
  const double u = perturbs && impl_.options.lowering != nullptr ? impl_.options.lowering->u : 0;
  const auto inputs_of = [&](size_t k) {
    std::vector<Tensor> list;
    for (const Lanes& l : inputs) list.push_back(l[k]);
    // Operators with internal errors may have seen unrounded inputs.
    for (size_t i = 0; u > 0 && k > 0 && i < list.size(); ++i)
      list[i] = rounded_at_random(list[i], u, mix_key(mix_key(impl_.nodes.at(&n).key, frame.lanes()[k]), i));
    return list;
  };
  std::vector<Lanes> outputs(n.outputs().size());
  std::vector<Tensor> at_once;  // of the lanes from 1 on, if they are evaluated together
  for (size_t k = 0; k < frame.lanes().size(); ++k) {
    std::vector<Tensor> y;
    if (k == 0)
      y = evaluate_lane(n, inputs_of(k), frame, frame.lanes()[k], stored);
    else if (!at_once.empty())
      y = {std::move(at_once[k - 1])};
    else if (!once)
      y = evaluate_noisy(n, steps ? with_other_scale(n, facts, inputs_of(k), k) : inputs_of(k), frame,
                         frame.lanes()[k], outputs);
    if (wanted == Noise::kAdd && has_room(frame.lanes()[k]) && may_not_overflow(n)) {
      if (y.empty()) y = {outputs[0][0]};
      y[0] = without_overflow(y[0], inputs[0][k]);
    }
    if (k == 0 && !once && bounded && differ_in_first_alone(inputs))
      at_once = stacked_lanes(n, impl_.nodes.at(&n).op, inputs_of(0), inputs[0], y[0]);
    if (levels && !y.empty() && k != 0 && is_integer(y[0].dtype()))
      y[0] = with_other_levels(y[0], mix_key(impl_.nodes.at(&n).key, frame.lanes()[k]));
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].push_back(y.empty() ? outputs[i][0] : std::move(y[i]));
  }
  Evaluation result;
  if (noisy && !perturbs) {
    result.errors = errors_of(n, inputs_of(0), frame, outputs, bounds);
    if (wanted == Noise::kAdd) add_noise(n, frame, result.errors, outputs);
    if (!bounded) result.errors.clear();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (n.output(i) == nullptr) continue;
    require(outputs[i][0].defined(), ErrorCode::kInternal, "output {} was not computed", i);
    if (stored)
      frame.set_stored(n.output(i), std::move(outputs[i]));
    else
      frame.set(n.output(i), std::move(outputs[i]));
  }
  return result;
}

Lanes Walk::own_lanes(const Tensor& t, const Value& v, const Frame& frame, Lanes computed) const {
  Lanes lanes(frame.lanes().size(), incoming(t));
  const double u = is_float(t.dtype()) ? unit_roundoff(t.dtype()) : 0;
  if (u <= unit_roundoff(DType::kFloat32) || v.producer() == nullptr) return lanes;
  if (may_not_overflow(*v.producer())) {
    const Lanes given = lanes_of(v.producer()->input(0), frame);
    for (size_t i = 0; i < computed.size() && i < given.size(); ++i)
      computed[i] = without_overflow(computed[i], given[i]);
  }
  // An exactly computed zero is kept; another one is an underflow.
  Tensor largest = map_elements<double>(lanes[0], [](double x) { return std::abs(x); });
  for (const Tensor& c : computed)
    if (c.dtype() == DType::kFloat64 && c.shape() == t.shape())
      largest =
          map_broadcast<double>(largest, c, [](double a, double b) { return std::max(a, std::abs(b)); });
  const double near_zero = rounding_near_zero(t.dtype());
  const double whole = impl_.nodes.at(v.producer()).op.op->facts.gives_whole ? 1 / u : -1;
  const auto bound_of = [&](const Tensor& numbers) {
    return map_broadcast<double>(numbers, largest, [=](double x, double any) {
      return any == 0 || std::abs(x) <= whole ? 0 : std::max(u * std::abs(x), near_zero);
    });
  };
  const auto own = lanes[0].span<double>();
  const bool overflown = std::any_of(own.begin(), own.end(), [](double x) { return std::isinf(x); });
  const Tensor bound = bound_of(lanes[0]);
  const uint64_t key = mix_key(impl_.nodes.at(v.producer()).key, 0x0b);
  const auto finite = [&](size_t lane) {
    if (computed.empty() || !overflown) return lanes[0];
    const Tensor& y = computed[std::min(lane, computed.size() - 1)];
    if (y.dtype() != DType::kFloat64 || y.shape() != t.shape()) return lanes[0];
    return map_broadcast<double>(
        lanes[0], y, [](double own, double c) { return std::isinf(own) && std::isfinite(c) ? c : own; });
  };
  for (size_t k = 0; k < lanes.size(); ++k) {
    if (frame.lanes()[k] == 0) continue;
    const Tensor numbers = finite(k);
    lanes[k] = perturbed(numbers, overflown ? bound_of(numbers) : bound, mix_key(key, frame.lanes()[k]), 0);
  }
  return lanes;
}

void Walk::nodes(Frame& frame, const Observe& computed, KeepOutputs outputs) {
  const Graph& g = frame.graph();
  std::unordered_map<const Value*, int> uses;
  std::vector<std::vector<Value*>> used;
  for (const auto& n : g.nodes()) {
    used.push_back(used_values(*n));
    for (const Value* v : used.back()) ++uses[v];
  }
  if (outputs == KeepOutputs::kYes)
    for (const Value* v : g.outputs) ++uses[v];
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& n = *g.nodes()[i];
    at_node(n, [&] { evaluate(n, frame, Noise::kAdd, Bounds::kExpected); });
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      computed(*v);
      if (uses[v] == 0) frame.erase(v);
    }
    for (const Value* v : used[i])
      if (--uses[v] == 0) frame.erase(v);
  }
}

/// The argument of a subgraph's input. One that is declared as an optional accepts a bare value, too: the
/// body of a Loop may return an optional's element for the next iteration.
Tensor Walk::argument(const Value& input, const Tensor& t) const {
  const bool wraps = input.type.kind == Type::Kind::kOptional && t.dtype() != DType::kOptional;
  return wraps ? Tensor::optional(incoming(t)) : incoming(t);
}

std::vector<Tensor> Walk::subgraph(const Graph& g, std::vector<Tensor> inputs, const Frame& outer,
                                   size_t lane) {
  Frame frame(g, lane, outer, ++subgraph_runs_);
  require(inputs.size() == g.inputs.size(), ErrorCode::kInvalidModel,
          "the subgraph takes {} inputs, but {} are given", g.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) frame.set(g.inputs[i], {argument(*g.inputs[i], inputs[i])});
  nodes(
      frame, [](const Value&) {}, KeepOutputs::kYes);
  std::vector<Tensor> outputs;
  for (const Value* v : g.outputs) outputs.push_back(lanes_of(v, frame)[0]);
  return outputs;
}

}  // namespace assay::internal
