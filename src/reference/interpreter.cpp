#include "reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "graph/at_node.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/check.h"
#include "ops/eval_util.h"
#include "ops/numerics/noise.h"
#include "ops/work.h"
#include "reference/error_bound.h"
#include "tensor/container.h"

namespace assay {
namespace {

using Lanes = std::vector<Tensor>;

/// Steps that any node costs, however small: to find its inputs, to allocate its outputs.
constexpr int64_t kNodeWork = 1000;

bool all_shared(const Lanes& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) { return t.shares_storage(lanes[0]); });
}

/// y with random errors within the bound; none where either is not finite. In a subgraph, which may run again
/// and again, `run` tells its runs apart; outside it is 0.
Tensor perturbed(const Tensor& y, const Tensor& bound, uint64_t key, uint64_t run) {
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const double *py = y.data<double>(), *pb = bound.data<double>();
  auto* po = out.mutable_data<double>();
  const uint64_t run_key = mix_key(key, run);
  parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto at = static_cast<uint64_t>(i);
      const double error = pb[i] * (run == 0 ? noise(key, at) : recurring_noise(run_key, key, at));
      po[i] = std::isfinite(error) ? py[i] + error : py[i];
    }
  });
  return out;
}

/// What an unknown operator rounds is not known either.
constexpr double kForeignUlps = 8;
constexpr OpVersion kForeignVersion = {1, "", nullptr, nullptr};
constexpr OpDef kForeignOp = {.domain = {},
                              .name = "an unknown operator",
                              .versions = {},
                              .numerics = {.kind = Numerics::Kind::kElementwise, .ulps = kForeignUlps},
                              .types = EvalTypes::kAsStored};

}  // namespace

struct Interpreter::Impl {
  std::shared_ptr<const Model> model;
  InterpreterOptions options;
  struct Bound {
    BoundOp op;
    uint64_t key;  ///< of the node's noise and random numbers
  };
  std::unordered_map<const Node*, Bound> nodes;
  std::unordered_map<const Value*, DType> foreign_types;  ///< what unknown operators gave

  bool is_foreign(const Node& n) const {
    return options.foreign != nullptr && !bind_op(n, *model) && options.foreign->takes(n);
  }

  void bind(const Graph& g) {
    for (const auto& n : g.nodes()) {
      const BoundOp op = at_node(*n, [&] {
        if (is_foreign(*n)) return BoundOp{&kForeignOp, &kForeignVersion};
        const BoundOp found = require_op(*n, *model);
        check_node(*n, *found.op, *found.version);
        return found;
      });
      nodes.emplace(n.get(), Bound{op, mix_key(options.seed, nodes.size())});
      for (const Attribute& a : n->attributes)
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) bind(**sub);
    }
  }
  bool ideal() const { return options.precision == ReferencePrecision::kFloat64; }
};

namespace {

/// The values of one graph while it runs, in some of the lanes: all of them in the main graph, one in a
/// subgraph, which the node that owns it runs lane by lane. A subgraph's frame looks outward for what it
/// captures.
class Frame {
 public:
  Frame(const Graph& graph, std::vector<size_t> lanes) : graph_(graph), lanes_(std::move(lanes)) {}
  /// Of a subgraph, in one lane. `run` is the number of this run, from 1 on.
  Frame(const Graph& graph, size_t lane, const Frame& outer, uint64_t run)
      : graph_(graph), lanes_({lane}), outer_(&outer), run_(run) {}

  const Graph& graph() const { return graph_; }
  /// Numbers of the lanes that this frame carries; entry i of a value's Lanes is lane lanes()[i].
  const std::vector<size_t>& lanes() const { return lanes_; }
  /// 0 for the main graph.
  uint64_t run() const { return run_; }

  bool has(const Value* v) const { return values_.contains(v); }
  Lanes get(const Value* v) const {
    if (const auto it = values_.find(v); it != values_.end()) return it->second;
    require(outer_ != nullptr, ErrorCode::kInternal, "the value '{}' was used before it was computed",
            v->name());
    const Lanes captured = outer_->get(v);
    Lanes own;
    for (const size_t lane : lanes_)
      own.push_back(captured[static_cast<size_t>(
          std::find(outer_->lanes_.begin(), outer_->lanes_.end(), lane) - outer_->lanes_.begin())]);
    return own;
  }
  void set(const Value* v, Lanes lanes) { values_[v] = std::move(lanes); }
  void erase(const Value* v) { values_.erase(v); }

 private:
  const Graph& graph_;
  std::vector<size_t> lanes_;
  const Frame* outer_ = nullptr;
  uint64_t run_ = 0;
  std::unordered_map<const Value*, Lanes> values_;
};

/// One walk over the model.
class Walk {
 public:
  using Computed = std::function<void(const Value&)>;

  explicit Walk(Interpreter::Impl& interpreter) : impl_(interpreter), work_left_(interpreter.options.max_work) {}

  /// Whether the values of the graph's outputs stay in the frame.
  enum class KeepOutputs : uint8_t { kNo, kYes };
  /// Runs all nodes of a frame and forgets values after their last use; `computed` sees each node output
  /// before that.
  void nodes(Frame& frame, const Computed& computed, KeepOutputs outputs);
  std::vector<Tensor> subgraph(const Graph& g, std::vector<Tensor> inputs, const Frame& outer, size_t lane);
  /// The lanes of a node input: a constant in every lane, or what was computed.
  Lanes lanes_of(const Value* v, const Frame& frame) const;
  /// A value of stored types as the walk keeps it.
  Tensor incoming(const Tensor& t) const { return impl_.ideal() ? widened(t) : t; }

 private:
  Tensor argument(const Value& input, const Tensor& t) const;
  void evaluate(const Node& n, Frame& frame);
  std::vector<Tensor> evaluate_lane(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                                    size_t lane);
  std::vector<Tensor> evaluate_foreign(const Node& n, std::vector<Tensor> inputs);
  void add_noise(const Node& n, std::vector<Tensor> inputs, const Frame& frame, std::vector<Lanes>& outputs);

  void charge(const Node& n, const std::vector<Lanes>& inputs);

  Interpreter::Impl& impl_;
  int64_t work_left_;
  uint64_t subgraph_runs_ = 0;
};

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

DType declared_dtype(const Value* v) { return v != nullptr ? leaf_dtype(v->type) : DType::kUndefined; }

/// Unit roundoff of each output as the model declares it. What is declared no type is computed in the field's
/// default, float32.
std::vector<double> unit_roundoffs(const Node& n) {
  std::vector<double> u;
  for (const Value* v : n.outputs()) {
    const DType declared = declared_dtype(v);
    u.push_back(unit_roundoff(declared == DType::kUndefined ? DType::kFloat32 : declared));
  }
  return u;
}

Lanes Walk::lanes_of(const Value* v, const Frame& frame) const {
  if (v == nullptr) return Lanes(frame.lanes().size());
  if (!v->is_constant() || frame.has(v)) return frame.get(v);
  require(v->tensor().defined(), ErrorCode::kNotFound, "the data of initializer '{}' were not loaded",
          v->name());
  return Lanes(frame.lanes().size(), incoming(v->tensor().aligned()));
}

/// In the stored types. What is declared no type, and comes from no unknown operator, is float32.
std::vector<Tensor> Walk::evaluate_foreign(const Node& n, std::vector<Tensor> inputs) {
  for (size_t i = 0; impl_.ideal() && i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    DType stored = declared_dtype(n.input(i));
    if (const auto it = impl_.foreign_types.find(n.input(i)); it != impl_.foreign_types.end()) stored = it->second;
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
                                        size_t lane) {
  const auto& [op, key] = impl_.nodes.at(&n);
  if (op.op == &kForeignOp) return evaluate_foreign(n, std::move(inputs));
  const bool widen = op.op->types == EvalTypes::kFloat64;
  check_values(*op.op, *op.version, inputs, impl_.ideal());
  const DType stored = first_float(inputs);  // of a floating output that the model does not declare
  for (Tensor& t : inputs)
    if (widen) t = widened(t);
  LaneSubgraphs subgraphs(*this, frame, lane);
  EvalContext c(n, *op.op, *op.version, std::move(inputs), &subgraphs);
  c.ideal = impl_.ideal();
  c.seed = key;
  if (lane != 0 && op.op->numerics.perturb != nullptr)
    op.op->numerics.perturb(c, std::ranges::max(unit_roundoffs(n)), mix_key(mix_key(key, lane), frame.run()));
  else
    op.version->eval(c);
  std::vector<Tensor> y = std::move(c.outputs());
  for (size_t i = 0; i < y.size(); ++i) {
    if (!y[i].defined()) continue;
    const DType declared = declared_dtype(n.output(i));
    if (impl_.ideal())
      y[i] = widened(y[i]);
    else if (widen)
      y[i] = rounded(y[i], is_float(declared) ? declared : stored);
  }
  return y;
}

void Walk::add_noise(const Node& n, std::vector<Tensor> inputs, const Frame& frame,
                     std::vector<Lanes>& outputs) {
  const auto& [op, key] = impl_.nodes.at(&n);
  std::vector<Tensor> y;
  for (const Lanes& lanes : outputs) y.push_back(lanes[0]);
  // Integers are exact, also those of operators that multiply floats, too.
  bool rounds = false;
  for (const Tensor& t : y)
    if (t.defined()) for_each_leaf(t, [&](const Tensor& leaf) { rounds = rounds || is_float(leaf.dtype()); });
  if (!rounds) return;
  LaneSubgraphs subgraphs(*this, frame, frame.lanes()[0]);
  EvalContext exact(n, *op.op, *op.version, std::move(inputs), &subgraphs);
  exact.ideal = true;
  const std::vector<Tensor> bounds = error_bounds(exact, y, unit_roundoffs(n), BoundModel::kStatistical);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!bounds[i].defined()) continue;
    for (size_t k = 0; k < outputs[i].size(); ++k)
      if (frame.lanes()[k] != 0 && outputs[i][k].shape() == bounds[i].shape())
        outputs[i][k] =
            perturbed(outputs[i][k], bounds[i], mix_key(mix_key(key, frame.lanes()[k]), i), frame.run());
  }
}

/// Counts what the node is going to take. In a loop types leave extents open: the inputs that are there count in any
/// case.
void Walk::charge(const Node& n, const std::vector<Lanes>& inputs) {
  if (impl_.options.max_work == INT64_MAX) return;
  int64_t given = kNodeWork;
  for (const Lanes& l : inputs) given += l[0].defined() ? l[0].numel() : 0;
  const int64_t work = std::max(given, work_estimate(n));
  require(work <= work_left_, ErrorCode::kUnsupported, "it takes more than {} steps, too long to be computed here",
          impl_.options.max_work);
  work_left_ -= work;
}

void Walk::evaluate(const Node& n, Frame& frame) {
  std::vector<Lanes> inputs;
  // Lanes that agree on every input are evaluated once.
  const bool perturbs = impl_.nodes.at(&n).op.op->numerics.perturb != nullptr;
  const bool noisy = frame.lanes().back() != 0;
  bool shared = !has_subgraph(n) && !(noisy && perturbs);
  for (const Value* v : n.inputs()) {
    inputs.push_back(lanes_of(v, frame));
    shared = shared && all_shared(inputs.back());
  }
  charge(n, inputs);
  const auto inputs_of = [&](size_t k) {
    std::vector<Tensor> list;
    for (const Lanes& l : inputs) list.push_back(l[k]);
    return list;
  };
  std::vector<Lanes> outputs(n.outputs().size());
  for (size_t k = 0; k < frame.lanes().size(); ++k) {
    std::vector<Tensor> y;
    if (k == 0 || !shared) y = evaluate_lane(n, inputs_of(k), frame, frame.lanes()[k]);
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].push_back(y.empty() ? outputs[i][0] : std::move(y[i]));
  }
  if (noisy && !perturbs) add_noise(n, inputs_of(0), frame, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (n.output(i) == nullptr) continue;
    require(outputs[i][0].defined(), ErrorCode::kInternal, "output {} was not computed", i);
    frame.set(n.output(i), std::move(outputs[i]));
  }
}

void Walk::nodes(Frame& frame, const Computed& computed, KeepOutputs outputs) {
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
    at_node(n, [&] { evaluate(n, frame); });
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      computed(*v);
      if (uses[v] == 0) frame.erase(v);
    }
    for (const Value* v : used[i])
      if (--uses[v] == 0) frame.erase(v);
  }
}

/// What a subgraph's input gets. One that is declared as an optional takes the bare value too: the body of a
/// Loop may give back what an optional held for the next iteration.
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

}  // namespace

Interpreter::Interpreter(std::shared_ptr<const Model> model, const InterpreterOptions& options)
    : impl_(new Impl) {
  impl_->model = std::move(model);
  impl_->options = options;
  require(options.noisy_lanes == 0 || impl_->ideal(), ErrorCode::kInternal,
          "noisy lanes need the float64 reference");
  check_depth(*impl_->model);
  impl_->bind(*impl_->model->graph);
}

Interpreter::~Interpreter() = default;

void Interpreter::run(std::span<const Tensor> inputs, const Observer& observer,
                      std::span<const Value* const> wanted) {
  const Graph& g = *impl_->model->graph;
  require(inputs.size() == g.inputs.size(), ErrorCode::kInvalidArgument,
          "the model takes {} inputs, but {} are given", g.inputs.size(), inputs.size());
  std::unordered_set<const Value*> watched(wanted.begin(), wanted.end());
  if (wanted.empty()) watched.insert(g.outputs.begin(), g.outputs.end());
  std::vector<size_t> lanes;
  for (int i = 0; i <= impl_->options.noisy_lanes; ++i) lanes.push_back(static_cast<size_t>(i));
  Walk walk(*impl_);
  Frame frame(g, lanes);
  for (size_t i = 0; i < inputs.size(); ++i)
    frame.set(g.inputs[i], Lanes(lanes.size(), walk.incoming(inputs[i])));
  for (const auto& v : g.values())
    if (watched.contains(v.get()) && v->producer() == nullptr) observer(*v, walk.lanes_of(v.get(), frame));
  walk.nodes(
      frame,
      [&](const Value& v) {
        if (watched.contains(&v)) observer(v, frame.get(&v));
      },
      Walk::KeepOutputs::kNo);
}

}  // namespace assay
