#include "reference/walk.h"

#include <algorithm>
#include <cmath>

#include "assay/interrupt.h"
#include "base/memory_limit.h"
#include "base/time_trace.h"
#include "graph/order.h"
#include "graph/read.h"
#include "kernels/noise/noise.h"
#include "ops/eval_util.h"
#include "ops/moves.h"
#include "ops/numerics/summation.h"
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

namespace {

/// The value as it is kept in the nearest frame that has it; null where none has.
const Lanes* kept_anywhere(const Value* v, const Frame& frame) {
  const Lanes* kept = nullptr;
  for (const Frame* at = &frame; v != nullptr && kept == nullptr && at != nullptr; at = at->outer())
    kept = at->as_kept(v);
  return kept;
}

/// The one type of all floats so far, those of a container as float64.
struct OnlyFloat {
  /// False where it is another one.
  bool add(const Tensor& t) {
    if (!t.defined() || (!t.is_container() && !is_float(t.dtype()))) return true;
    const DType given = t.is_container() ? DType::kFloat64 : t.dtype();
    if (type == DType::kUndefined) type = given;
    return type == given;
  }
  DType type = DType::kUndefined;
};

}  // namespace

Lanes Walk::kept_lanes_of(const Value* v, const Frame& frame) const {
  const Lanes* kept = kept_anywhere(v, frame);
  const size_t count = frame.lanes().size();
  if (kept != nullptr && !kept->empty() && all_shared(*kept)) return Lanes(count, kept->front());
  if (kept != nullptr && kept->size() == count) return *kept;
  if (kept == nullptr && v != nullptr && v->is_constant() && v->tensor().defined())
    return Lanes(count, v->tensor().aligned());
  return lanes_of(v, frame);
}

std::optional<std::vector<Lanes>> Walk::kept_inputs(const Node& n, const Frame& frame) const {
  std::vector<Lanes> inputs;
  OnlyFloat floats;
  for (const Value* v : n.inputs()) {
    inputs.push_back(kept_lanes_of(v, frame));
    if (!std::ranges::all_of(inputs.back(), [&](const Tensor& t) { return floats.add(t); }))
      return std::nullopt;
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

/// Every second lane has noise, where the others have sums in an order.
uint64_t Walk::perturbing_key(uint64_t key, size_t lane, uint64_t run) const {
  if (impl_.options.sums_in_order && lane % 2 == 0)
    return key_of(kSumOrders[lane / 2 % std::size(kSumOrders)]);
  return mix_key(mix_key(key, lane), run);
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
    op.op->numerics.perturb(c, std::ranges::max(unit_roundoffs(n)), perturbing_key(key, lane, frame.run()));
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

}  // namespace

/// One node in all lanes of a frame.
struct Walk::Task {
  const Node& n;
  const Frame& frame;
  Noise wanted;
  const BoundModel::Bound& bound;
  std::vector<Lanes> inputs{}, outputs{};
  std::vector<Tensor> at_once{};       ///< of the lanes from 1 on, where they are evaluated together
  bool stored = false;                 ///< floats in their stored types
  bool noisy = false;                  ///< some lanes have noise
  bool perturbs = false;               ///< which the operator makes within
  bool steps = false, levels = false;  ///< it rounds to steps; its quantized results may be a step off
  bool bounded = false;                ///< all its errors are known by bounds
  bool once = false;                   ///< the lanes agree
  SumsOf sums = nullptr;               ///< that are added up in float32 in each lane

  const OpDef& op() const { return *bound.op.op; }
  size_t lane(size_t k) const { return frame.lanes()[k]; }
  /// Of the noise.
  uint64_t key(size_t k) const { return mix_key(bound.key, lane(k)); }
};

void Walk::set_inputs(Task& t) const {
  if (impl_.ideal() && moves_elements(t.op())) {
    std::optional<std::vector<Lanes>> kept = kept_inputs(t.n, t.frame);
    t.stored = kept.has_value();
    if (kept) t.inputs = std::move(*kept);
  }
  if (!t.stored)
    for (const Value* v : t.n.inputs()) t.inputs.push_back(lanes_of(v, t.frame));
}

Walk::Task Walk::task_of(const Node& n, const Frame& frame, Noise wanted) const {
  Task t{.n = n, .frame = frame, .wanted = wanted, .bound = impl_.nodes.at(&n)};
  set_inputs(t);
  t.outputs.resize(n.outputs().size());
  t.perturbs = t.op().numerics.perturb != nullptr;
  t.noisy = frame.lanes().back() != 0 && wanted != Noise::kNone;
  const bool adds = wanted == Noise::kAdd;
  t.steps = adds && quantisation_scale_input(n, t.op().facts) >= 0;
  t.levels = adds && impl_.options.noisy_levels && t.op().facts.is_quantized();
  t.bounded = !has_subgraph(n) && !t.perturbs && !t.steps && !t.levels;
  // Lanes that agree on every input are evaluated once.
  t.once = !t.noisy || (t.bounded && std::ranges::all_of(t.inputs, all_shared));
  if (adds && t.noisy && impl_.options.sums_in_order) t.sums = sums_of(t.op());
  return t;
}

/// The inputs of lane k; of an operator that adds its noise internally, with the lowering's rounding errors.
std::vector<Tensor> Walk::inputs_of(const Task& t, size_t k) const {
  const double u = t.perturbs && impl_.options.lowering != nullptr ? impl_.options.lowering->u : 0;
  std::vector<Tensor> list;
  for (const Lanes& l : t.inputs) list.push_back(l[k]);
  for (size_t i = 0; u > 0 && k > 0 && i < list.size(); ++i)
    list[i] = rounded_at_random(list[i], u, mix_key(t.key(k), i));
  return list;
}

std::vector<Tensor> Walk::evaluate_from_inputs(Task& t, size_t k) {
  if (k == 0) return evaluate_lane(t.n, inputs_of(t, k), t.frame, t.lane(k), t.stored);
  if (!t.at_once.empty()) return {std::move(t.at_once[k - 1])};
  if (t.once) return {};
  std::vector<Tensor> inputs = inputs_of(t, k);
  if (t.steps) inputs = with_other_scale(t.n, t.op().facts, std::move(inputs), k);
  return evaluate_noisy(t.n, std::move(inputs), t.frame, t.lane(k), t.outputs);
}

std::vector<Tensor> Walk::outputs_in(Task& t, size_t k) {
  std::vector<Tensor> y = evaluate_from_inputs(t, k);
  const auto as_in_first = [&] {
    for (size_t i = y.size(); i < t.outputs.size(); ++i) y.push_back(t.outputs[i][0]);
  };
  if (t.wanted == Noise::kAdd && has_room(t.lane(k)) && may_not_overflow(t.n)) {
    as_in_first();
    y[0] = without_overflow(y[0], t.inputs[0][k]);
  }
  if (t.sums != nullptr && t.lane(k) != 0) {
    as_in_first();
    add_up_in_order(t, k, y);
  }
  if (t.levels && k != 0 && !y.empty() && is_integer(y[0].dtype())) y[0] = with_other_levels(y[0], t.key(k));
  return y;
}

/// Also true where no type is declared.
bool Walk::adds_up_in_float32(const Task& t, size_t output) {
  return t.n.output(output) != nullptr && declared_dtype(t.n.output(output)) != DType::kFloat64;
}

void Walk::add_up_in_order(const Task& t, size_t k, std::vector<Tensor>& y) {
  const SumOrder order = kSumOrders[t.lane(k) % std::size(kSumOrders)];
  for (size_t i = 0; i < y.size() && addends_left_ > 0; ++i) {
    if (!y[i].defined() || y[i].dtype() != DType::kFloat64 || !adds_up_in_float32(t, i)) continue;
    EvalContext c(t.n, t.op(), *t.bound.op.version, inputs_of(t, k));
    c.ideal = true;
    y[i] = with_sums_in_order(c, t.sums, i, y[i], order, addends_left_);
  }
}

void Walk::widen_for_sums(const Task& t, std::vector<NodeError>& errors) {
  // The rule of sums explains errors of this many expected sizes.
  constexpr double kSizes = 5;
  for (size_t i = 0; i < errors.size() && addends_left_ > 0; ++i) {
    if (!adds_up_in_float32(t, i) || !errors[i].expected.defined()) continue;
    EvalContext c(t.n, t.op(), *t.bound.op.version, inputs_of(t, 0));
    c.ideal = true;
    const Tensor room = room_of_sums(c, t.sums, i, t.outputs[i][0].shape(), addends_left_);
    if (!room.defined()) continue;
    errors[i].expected = map_broadcast<double>(errors[i].expected, room,
                                               [=](double e, double r) { return std::max(e, r / kSizes); });
  }
}

bool Walk::stacks(const Task& t) const {
  return !t.once && t.bounded && !t.inputs.empty() &&
         std::all_of(t.inputs.begin() + 1, t.inputs.end(), all_shared);
}

void Walk::show(const Node& n, const std::vector<Lanes>& inputs, const std::vector<Lanes>& outputs) const {
  const auto first = [](const std::vector<Lanes>& all) {
    std::vector<Tensor> tensors;
    for (const Lanes& lanes : all) tensors.push_back(lanes[0]);
    return tensors;
  };
  impl_.options.observe(n, first(inputs), first(outputs));
}

Evaluation Walk::evaluate(const Node& n, Frame& frame, Noise wanted, Bounds bounds) {
  if (constants_of_ != &n) constants_.clear();
  constants_of_ = &n;
  Task t = task_of(n, frame, wanted);
  charge(n, t.inputs);
  for (size_t k = 0; k < frame.lanes().size(); ++k) {
    std::vector<Tensor> y = outputs_in(t, k);
    if (k == 0 && stacks(t)) t.at_once = stacked_lanes(n, t.bound.op, inputs_of(t, 0), t.inputs[0], y[0]);
    for (size_t i = 0; i < t.outputs.size(); ++i)
      t.outputs[i].push_back(y.empty() ? t.outputs[i][0] : std::move(y[i]));
  }
  Evaluation result;
  if (t.noisy && !t.perturbs) {
    result.errors = errors_of(n, inputs_of(t, 0), frame, t.outputs, bounds);
    if (t.sums != nullptr) widen_for_sums(t, result.errors);
    if (wanted == Noise::kAdd) add_noise(n, frame, result.errors, t.outputs);
    if (!t.bounded) result.errors.clear();
  }
  if (impl_.options.observe && frame.lanes()[0] == 0) show(n, t.inputs, t.outputs);
  for (size_t i = 0; i < t.outputs.size(); ++i) {
    if (n.output(i) == nullptr) continue;
    require(t.outputs[i][0].defined(), ErrorCode::kInternal, "output {} was not computed", i);
    if (t.stored)
      frame.set_stored(n.output(i), std::move(t.outputs[i]));
    else
      frame.set(n.output(i), std::move(t.outputs[i]));
  }
  return result;
}

namespace {

/// The largest of each number among the lanes and what was computed.
Tensor largest_of(const Tensor& own, const Lanes& computed) {
  Tensor largest = map_elements<double>(own, [](double x) { return std::abs(x); });
  for (const Tensor& c : computed)
    if (c.dtype() == DType::kFloat64 && c.shape() == own.shape())
      largest =
          map_broadcast<double>(largest, c, [](double a, double b) { return std::max(a, std::abs(b)); });
  return largest;
}

/// The number computed in that lane, where the own number is infinite and the computed one is not.
Tensor finite_where_computed(const Tensor& own, const Lanes& computed, size_t lane) {
  if (computed.empty()) return own;
  const Tensor& y = computed[std::min(lane, computed.size() - 1)];
  if (y.dtype() != DType::kFloat64 || y.shape() != own.shape()) return own;
  return map_broadcast<double>(own, y,
                               [](double x, double c) { return std::isinf(x) && std::isfinite(c) ? c : x; });
}

}  // namespace

Lanes Walk::own_lanes(const Tensor& t, const Value& v, const Frame& frame, Lanes computed) const {
  Lanes lanes(frame.lanes().size(), incoming(t));
  const double u = is_float(t.dtype()) ? unit_roundoff(t.dtype()) : 0;
  if (u <= unit_roundoff(DType::kFloat32) || v.producer() == nullptr) return lanes;
  if (may_not_overflow(*v.producer())) {
    const Lanes given = lanes_of(v.producer()->input(0), frame);
    for (size_t i = 0; i < computed.size() && i < given.size(); ++i)
      computed[i] = without_overflow(computed[i], given[i]);
  }
  // A zero that was computed as such is one; another is what was too small.
  const Tensor largest = largest_of(lanes[0], computed);
  const double near_zero = rounding_near_zero(t.dtype());
  const auto& [op, node_key] = impl_.nodes.at(v.producer());
  const double whole = op.op->facts.gives_whole ? 1 / u : -1;
  const auto bound_of = [&](const Tensor& numbers) {
    return map_broadcast<double>(numbers, largest, [=](double x, double any) {
      return any == 0 || std::abs(x) <= whole ? 0 : std::max(u * std::abs(x), near_zero);
    });
  };
  const auto own = lanes[0].span<double>();
  const bool overflown = std::any_of(own.begin(), own.end(), [](double x) { return std::isinf(x); });
  const Tensor bound = bound_of(lanes[0]);
  const uint64_t key = mix_key(node_key, 0x0b);
  for (size_t k = 0; k < lanes.size(); ++k) {
    if (frame.lanes()[k] == 0) continue;
    const Tensor numbers = overflown ? finite_where_computed(lanes[0], computed, k) : lanes[0];
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
    stop_if_interrupted();
    at_node(n, [&] {
      const trace::Span span(trace::Kind::kNode, [&] { return n.label(); });
      evaluate(n, frame, Noise::kAdd, Bounds::kExpected);
    });
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
