#include "convert/converter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "convert/constant_node.h"
#include "convert/local_inference.h"
#include "convert/schema_fit.h"
#include "convert/steps.h"
#include "graph/at_node.h"
#include "ops/check.h"
#include "ops/op_set.h"

namespace assay {
namespace {

/// Detects rewriting of a node in place.
std::string form_of(const Node& n) {
  std::string text = n.op_type;
  for (const Value* v : n.inputs()) text += fmt::format(",{}", fmt::ptr(v));
  for (const Value* v : n.outputs()) text += fmt::format(";{}", fmt::ptr(v));
  for (const Attribute& a : n.attributes) {
    text += "|" + a.name;
    if (const auto* i = a.get_if<int64_t>()) text += fmt::format("={}", *i);
    if (const auto* s = a.get_if<std::string>()) text += "=" + *s;
    if (const auto* list = a.get_if<std::vector<int64_t>>())
      text += fmt::format("={}", fmt::join(*list, ","));
  }
  return text;
}

/// Adapters rely on what a node must have. An attribute that the schema does not know is not an obstacle, and
/// neither is an input of another type: fit_schema() and type_problems() handle those.
void require_form(const Node& n, const OpDef& op, const OpVersion& version) {
  for (const NodeProblem& p : find_node_problems(n, op, version))
    require(p.rule == NodeRule::kUnknownAttribute || p.rule == NodeRule::kInputType, ErrorCode::kInvalidModel,
            "{}", p.message);
}

const OpVersion* neighbour(const OpDef& op, const OpVersion& now, int direction) {
  const size_t i = static_cast<size_t>(&now - op.versions.data()) + static_cast<size_t>(direction);
  return i < op.versions.size() ? &op.versions[i] : nullptr;
}

}  // namespace

std::optional<int64_t> Converter::step(Node& n, const OpDef& op, const OpVersion& now) {
  const OpVersion* wanted = version_for(op, to_);
  const bool is_up = wanted != nullptr && wanted->since > now.since;
  const OpVersion* other = neighbour(op, now, is_up ? 1 : -1);
  if (other == nullptr) return expand(n, op);
  const int64_t nearest = is_up ? other->since - 1 : now.since;
  const int64_t opset = is_up ? other->since : now.since - 1;
  const Adapter* adapter = step_to(op, is_up ? other->since : now.since).adapter;
  const auto rewrite = adapter == nullptr ? nullptr : is_up ? adapter->up : adapter->down;
  const size_t pending = pending_.size();
  try {
    Rewrite context(n, opset, *this);
    if (rewrite != nullptr) rewrite(context);
  } catch (const NoEquivalent& e) {
    take_back(pending);
    problem(e.reason, nearest);
    return std::nullopt;
  }
  if (removed_.contains(&n) || n.op_type != op.name) return opset;
  infer_node(n, ops(), opset, constants_);
  const std::vector<std::string> reasons = fit_schema(n, now, *other, outputs_);
  for (const std::string& reason : reasons) problem(reason, nearest);
  if (!reasons.empty()) return std::nullopt;
  return opset;
}

std::optional<int64_t> Converter::expand(Node& n, const OpDef& op) {
  const int64_t first = op.versions.front().since;
  if (evaluate(n, op)) return first;
  const Expansion* expansion = find_expansion(op);
  if (expansion == nullptr) {
    problem(fmt::format("the operator {}", op.name), first);
    return std::nullopt;
  }
  const size_t pending = pending_.size();
  try {
    Rewrite context(n, expansion->opset, *this);
    expansion->expand(context);
  } catch (const NoEquivalent& e) {
    take_back(pending);
    problem(fmt::format("the operator {}, which cannot be expressed by older ones: {}", op.name, e.reason),
            first);
    return std::nullopt;
  }
  return expansion->opset;
}

bool Converter::evaluate(Node& n, const OpDef& op) {
  const std::vector<Tensor> results = constant_results(n, op, op.versions.front(), constants_);
  if (results.empty()) return false;
  Rewrite context(n, to_, *this);
  if (results.size() == 1 && !wants_constant_nodes(n.graph())) {
    context.become_constant(results[0]);
    return true;
  }
  std::vector<Value*> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(n.output(i) != nullptr ? context.constant(results[i], "value") : nullptr);
  context.replace(values);
  return true;
}

void Converter::take_back(size_t pending) {
  for (size_t i = pending_.size(); i-- > pending;) {
    Node& n = *pending_[i].node;
    n.set_inputs({});
    n.set_outputs({});
    removed_.insert(&n);
  }
  pending_.resize(pending);
}

void Converter::convert(Node& n, int64_t opset) {
  std::optional<int64_t> at = opset;
  while (at && *at != to_ && !removed_.contains(&n)) {
    const OpDef* op = ops().find(domain_, n.op_type);
    if (op == nullptr || !is_ours(n)) return;
    const OpVersion* now = version_for(*op, *at);
    if (now == version_for(*op, to_)) return;
    if (now == nullptr) {
      problem(fmt::format("the operator {}, which opset {} does not have,", n.op_type, *at),
              op->versions.front().since);
      return;
    }
    at = step(n, *op, *now);
  }
}

void Converter::make_name_unique(Node& node) {
  if (node.name.empty()) return;
  if (node_names_.insert(node.name).second) return;
  const std::string base = node.name;
  int64_t& number = name_numbers_[base];  // so far
  do node.name = fmt::format("{}_{}", base, ++number);
  while (!node_names_.insert(node.name).second);
}

void Converter::schedule(Node& node, int64_t opset) {
  infer_node(node, ops(), opset, constants_);
  pending_.push_back({&node, opset});
  ++report_.added;
  if (options_.on_added) options_.on_added(node, *original_);
}

void Converter::original(Node& n, int64_t from) {
  each_subgraph(n, [&](Graph& sub) { graph(sub, from); });
  if (!is_ours(n)) return;
  const OpDef* op = ops().find(domain_, n.op_type);
  if (op == nullptr) {
    add_note(fmt::format("The operator {} of {} is unknown; its nodes stay as they are.", n.op_type,
                         domain_.empty() ? "ai.onnx" : domain_));
    return;
  }
  if (version_for(*op, from) == version_for(*op, to_)) return;
  original_ = &n;
  label_ = n.label();
  const size_t problems = report_.problems.size();
  const std::string form = form_of(n);
  try {
    if (const OpVersion* now = version_for(*op, from)) {
      require_form(n, *op, *now);
      // The result types of a function call are not known here.
      const bool is_given = std::any_of(n.attributes.begin(), n.attributes.end(),
                                        [](const Attribute& a) { return !a.ref_attr_name.empty(); });
      if (!is_given) check_rules(n, *op, *now, constants_);
    }
    convert(n, from);
    // Conversion may add more.
    for (size_t i = 0; i < pending_.size(); ++i) convert(*pending_[i].node, pending_[i].opset);
  } catch (const std::exception&) {
    rethrow_at_node(label_);
  }
  if (removed_.contains(&n) || form_of(n) != form) ++report_.rewritten;
  const bool is_same_operator = !removed_.contains(&n) && n.op_type == op->name;
  if (report_.problems.size() == problems) {
    if (is_same_operator) check_types(n, *op, from);
    for (const Pending& p : pending_) check_added(*p.node, *op, from);
  }
  pending_.clear();
}

/// Replacements of a node must allow the node's types, too.
void Converter::check_added(const Node& n, const OpDef& original, int64_t from) {
  const OpDef* op = ops().find(domain_, n.op_type);
  const OpVersion* now = op != nullptr && !removed_.contains(&n) ? version_for(*op, to_) : nullptr;
  if (now == nullptr) return;
  for (const std::string& reason : type_problems(n, *now))
    problem(fmt::format("the operator {}, of which {} would do part of the work with {},", original.name,
                        op->name, reason),
            to_ < from ? std::max<int64_t>(nearest_allowing(n, *op, from), to_ + 1) : from);
}

/// The version nearest to the wanted one that allows the node's types; `from` when none but the node's own
/// does.
int64_t Converter::nearest_allowing(const Node& n, const OpDef& op, int64_t from) const {
  int64_t nearest = from;
  for (const OpVersion& v : op.versions) {
    if (!type_problems(n, v).empty()) continue;
    if (to_ < from && v.since > to_) return v.since;
    const OpVersion* next = neighbour(op, v, 1);
    if (to_ > from && next != nullptr && next->since <= to_)
      nearest = std::max<int64_t>(nearest, next->since - 1);
  }
  return nearest;
}

void Converter::check_types(const Node& n, const OpDef& op, int64_t from) {
  const OpVersion *before = version_for(op, from), *now = version_for(op, to_);
  for (const std::string& reason : type_problems(n, *now)) problem(reason, nearest_allowing(n, op, from));
  if (has_unchecked_type(n, *before, *now))
    add_note(fmt::format("{}: not all types are known; whether {}-{} allows them was not checked.", label_,
                         op.name, now->since));
}

void Converter::graph(Graph& g, int64_t from) {
  std::vector<Node*> nodes;
  for (const auto& n : g.nodes()) {
    nodes.push_back(n.get());
    node_names_.insert(n->name);
  }
  for (Node* n : nodes) original(*n, from);
  // Before the nodes that hold them may go.
  for (Graph* made : std::exchange(made_graphs_, {})) put_in_order(*made);
  put_in_order(g);
}

void Converter::place(const Node& n, std::vector<Node*>& order) const {
  const auto it = places_.find(&n);
  if (it != places_.end())
    for (const Node* b : it->second.before) place(*b, order);
  order.push_back(const_cast<Node*>(&n));
  if (it != places_.end())
    for (const Node* a : it->second.after) place(*a, order);
}

void Converter::put_in_order(Graph& g) {
  std::vector<Node*> order;
  for (const auto& n : g.nodes())
    if (!added_.contains(n.get())) place(*n, order);
  // The graph is finished; addresses of removed nodes may be reused.
  for (const auto& n : g.nodes()) {
    places_.erase(n.get());
    added_.erase(n.get());
  }
  g.reorder_nodes(order);
  std::unordered_set<const Node*> gone;
  for (const auto& n : g.nodes())
    if (removed_.erase(n.get()) > 0) gone.insert(n.get());
  g.remove_nodes_if([&](const Node& n) { return gone.contains(&n); });
}

}  // namespace assay
