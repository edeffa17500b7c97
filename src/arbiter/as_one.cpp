#include "arbiter/as_one.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arbiter/trial.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "reference/interpreter.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

/// A normalisation with scale and bias, written out, has eleven.
constexpr size_t kPatternNodes = 16;
constexpr int kPatternLanes = 15;

bool is_fixed(const Value& v) {
  return v.is_constant() || (v.producer() != nullptr && is_op(*v.producer(), "Constant"));
}

/// What kernels for whole patterns consist of: no products of matrices, no windows.
bool is_light(const Node& n, const Model& model) {
  const BoundOp op = bind_op(n, model);
  if (!op || op.op->random || has_subgraph(n)) return false;
  const Numerics::Kind kind = op.op->numerics.kind;
  return kind == Numerics::Kind::kExact || kind == Numerics::Kind::kElementwise ||
         op.op->facts.elementwise != 0 || op.op->name.starts_with("Reduce");
}

bool multiplies(const Node& n) { return is_op(n, "Mul") || is_op(n, "Div"); }

/// A step of an activation function x f(x), of a normalisation, of a softmax.
bool combines(const Node& n) {
  return multiplies(n) &&
         std::ranges::count_if(n.inputs(), [](const Value* v) { return v != nullptr && !is_fixed(*v); }) == 2;
}

bool is_pattern(std::span<const Node* const> nodes, const Model& model) {
  // A list: with what the formulas of normalisations and softmaxes scale, a matter of these formulas.
  static constexpr std::string_view kScales[] = {"Exp", "Pow", "Reciprocal", "Sqrt"};
  const auto scales = [](const Node& n) {
    return std::ranges::any_of(kScales, [&](std::string_view op) { return is_op(n, op); });
  };
  const auto any = [&](auto is) { return std::ranges::any_of(nodes, [&](const Node* n) { return is(*n); }); };
  if (!any(combines)) return false;
  return any([&](const Node& n) { return facts_of(n, model).gates; }) ||
         (any([](const Node& n) { return n.op_type.starts_with("Reduce"); }) && any(scales));
}

struct Pattern {
  std::vector<const Node*> nodes;  ///< in topological order, those of constants included
  const Value* from = nullptr;
};

/// Goes back from a node, the latest one before it first, and stops wherever a single value is left.
class Backwards {
 public:
  explicit Backwards(const SuspectNode& suspect) : suspect_(suspect), all_(suspect.model.graph->nodes()) {
    for (size_t i = 0; i < all_.size(); ++i) place_[all_[i].get()] = i;
    found_ = place_.contains(&suspect.node);  // not so in a body
    if (found_) enter(suspect.node);
  }
  /// The next larger pattern, if there is one.
  std::optional<Pattern> next() {
    while (found_ && !open_.empty()) {
      const bool done = open_.size() == 1 && inside_.size() > 1 && !std::exchange(stopped_, true);
      if (done) return pattern();
      stopped_ = false;
      const Node* latest = nullptr;
      for (const Value* v : open_)
        if (v->producer() != nullptr && (latest == nullptr || place_.at(v->producer()) > place_.at(latest)))
          latest = v->producer();
      if (latest == nullptr || inside_.size() == kPatternNodes || !is_light(*latest, suspect_.model))
        return {};
      enter(*latest);
    }
    return {};
  }

 private:
  void enter(const Node& n) {
    inside_.insert(place_.at(&n));
    std::erase_if(open_, [&](const Value* v) { return v->producer() == &n; });
    for (const Value* v : used_values(n)) {
      if (!is_fixed(*v))
        open_.insert(v);
      else if (!v->is_constant())
        fixed_.insert(place_.at(v->producer()));
    }
  }
  Pattern pattern() const {
    std::vector<size_t> order(inside_.begin(), inside_.end());
    order.insert(order.end(), fixed_.begin(), fixed_.end());
    std::sort(order.begin(), order.end());
    Pattern found{.nodes = {}, .from = *open_.begin()};
    for (const size_t i : order) found.nodes.push_back(all_[i].get());
    return found;
  }

  const SuspectNode& suspect_;
  const std::vector<std::unique_ptr<Node>>& all_;
  std::unordered_map<const Node*, size_t> place_;
  std::unordered_set<size_t> inside_, fixed_;
  std::unordered_set<const Value*> open_;
  bool found_ = false, stopped_ = false;
};

std::shared_ptr<const Model> pattern_model(const Pattern& pattern, const SuspectNode& suspect) {
  auto copy = std::make_shared<Model>(scope_of(suspect.model, suspect.model.opsets));
  Graph& g = *copy->graph;
  ValueMap map{{pattern.from, g.add_input(pattern.from->name(), pattern.from->type)}};
  for (const Node* n : pattern.nodes) {
    for (const Value* v : used_values(*n))
      if (v->is_constant() && !map.contains(v)) map[v] = clone_value(*v, g);
    clone_node(*n, g, map);
  }
  g.outputs.push_back(map.at(&suspect.output));
  return copy;
}

/// None where the lanes differ in shape, or the pattern cannot be evaluated.
std::optional<AsOne> evaluate(const Pattern& pattern, const SuspectNode& suspect, const Tensor& from,
                              DType dtype) {
  std::optional<AsOne> found;
  try {
    Interpreter interpreter(pattern_model(pattern, suspect), {.noisy_lanes = kPatternLanes});
    interpreter.run(std::span(&from, 1), [&](const Value&, std::span<const Tensor> lanes) {
      if (std::all_of(lanes.begin(), lanes.end(),
                      [&](const Tensor& t) { return t.shape() == lanes[0].shape(); }) &&
          lanes[0].dtype() == DType::kFloat64)
        found = {
            .exact = lanes[0],
            .explained = explained_by_spread(lanes, dtype, kInputFactor),
            .note = fmt::format("as it rounds when it is computed at once from '{}', whatever lies between",
                                pattern.from->name())};
    });
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal) throw;
  }
  return found;
}

}  // namespace

std::optional<AsOne> computed_as_one(const SuspectNode& suspect, DType dtype,
                                     const std::function<bool(const AsOne&)>& explains) {
  if (!multiplies(suspect.node)) return {};
  Backwards backwards(suspect);
  while (const std::optional<Pattern> pattern = backwards.next()) {
    if (!is_pattern(pattern->nodes, suspect.model)) continue;
    const Tensor from = suspect.own(*pattern->from);
    if (!from.defined() || from.is_container()) continue;
    std::optional<AsOne> one = evaluate(*pattern, suspect, from, dtype);
    if (one && explains(*one)) return one;
  }
  return {};
}

namespace {

/// The exact value of an operand that is a product; undefined where it is none, or is not made of the
/// runner's own values.
Tensor unrounded_operand(const SuspectNode& suspect, const Value& operand) {
  const SuspectNode made{*operand.producer(), suspect.model, operand, suspect.own};
  const Trial product(made);
  const Tensor exact = product.usable() ? product.evaluate(product.inputs()) : Tensor();
  return exact.defined() && exact.dtype() == DType::kFloat64 ? exact : Tensor();
}

bool is_made_by(const Value* operand, std::string_view op) {
  return operand != nullptr && operand->producer() != nullptr && is_op(*operand->producer(), op);
}

/// Inputs of the node some of which were not rounded.
struct UnroundedInputs {
  std::vector<Tensor> inputs;
  std::string names;

  void take(size_t i, const Tensor& exact, const std::string& name) {
    inputs[i] = exact;
    names += fmt::format("{}'{}'", names.empty() ? "" : " and ", name);
  }
};

/// Each operand alone, and all dequantized ones together, whose scale a backend may apply afterwards.
std::vector<UnroundedInputs> with_unrounded_operands(const SuspectNode& suspect, const Trial& trial) {
  const bool is_sum = is_op(suspect.node, "Add") || is_op(suspect.node, "Sub");
  std::vector<UnroundedInputs> found;
  UnroundedInputs together{trial.inputs(), {}};
  size_t dequantized = 0;
  for (size_t i = 0; i < trial.inputs().size(); ++i) {
    const Value* operand = suspect.node.input(i);
    const bool scaled = is_made_by(operand, "DequantizeLinear");
    if (!scaled && !(is_sum && is_made_by(operand, "Mul"))) continue;
    const Tensor exact = unrounded_operand(suspect, *operand);
    if (!exact.defined()) continue;
    found.push_back({trial.inputs(), {}});
    found.back().take(i, exact, operand->name());
    if (!scaled) continue;
    together.take(i, exact, operand->name());
    ++dequantized;
  }
  if (dequantized > 1) found.push_back(std::move(together));
  return found;
}

}  // namespace

std::optional<AsOne> with_operands_unrounded(const SuspectNode& suspect, const Tensor& result, DType dtype) {
  if (!facts_of(suspect.node, suspect.model).is_ieee) return {};
  const Trial trial(suspect);
  if (!trial.usable()) return {};
  Tensor nearest = trial.evaluate(trial.inputs());
  const auto fits = [&](const Tensor& t) {
    return t.defined() && t.dtype() == DType::kFloat64 && t.shape() == result.shape();
  };
  if (!fits(nearest)) return {};
  const double *r = result.data<double>(), u = unit_roundoff(dtype), floor = float_range(dtype).normal;
  std::string operands;
  for (UnroundedInputs& unrounded : with_unrounded_operands(suspect, trial)) {
    const Tensor y = trial.evaluate(std::move(unrounded.inputs));
    if (!fits(y)) continue;
    operands += (operands.empty() ? "" : ", or ") + unrounded.names;
    // Which of the operands it is may change from one vector to the next.
    for (int64_t k = 0; k < y.numel(); ++k)
      if (double& best = nearest.mutable_data<double>()[k];
          std::abs(y.data<double>()[k] - r[k]) < std::abs(best - r[k]))
        best = y.data<double>()[k];
  }
  if (operands.empty()) return {};
  const Tensor once =
      map_elements<double>(nearest, [=](double y) { return u * std::abs(y) * (1 + u) + floor; });
  return AsOne{
      .exact = nearest,
      .explained = {.most = once, .possible = once},
      .note = fmt::format("as it rounds when {} was not rounded before, as in a fused multiply-add or "
                          "where a scale is applied afterwards",
                          operands)};
}

}  // namespace assay
