#include "convert/convert_opset.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "convert/local_inference.h"
#include "convert/rewrite.h"
#include "convert/schema_fit.h"
#include "convert/steps.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "ops/op_list.h"

namespace assay {
namespace {

std::string plain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string() : std::string(domain);
}

template <typename Visit>
void each_subgraph(const Node& n, Visit visit) {
  for (const Attribute& a : n.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) visit(**g);
    if (const auto* list = a.get_if<Attribute::Graphs>())
      for (const auto& g : *list) visit(*g);
  }
}

template <typename Visit>
void each_graph(Graph& g, Visit visit) {
  visit(g);
  for (const auto& n : g.nodes()) each_subgraph(*n, [&](Graph& sub) { each_graph(sub, visit); });
}

template <typename Visit>
void each_graph(Model& model, Visit visit) {
  each_graph(*model.graph, visit);
  for (Function& f : model.functions) each_graph(*f.body, visit);
}

/// Keeps what the model declares of its values while inference says what they are.
class DeclaredTypes {
 public:
  explicit DeclaredTypes(Model& model) {
    each_graph(model, [&](Graph& g) {
      for (const auto& v : g.values()) types_.emplace(v.get(), v->type);
    });
  }
  void restore(Model& model) {
    each_graph(model, [&](Graph& g) {
      for (const auto& v : g.values()) {
        const auto it = types_.find(v.get());
        const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), v.get()) != g.outputs.end();
        if (v->is_constant()) continue;
        if (it != types_.end())
          v->type = it->second;
        else if (v->producer() != nullptr && !is_output)
          v->type = {};
      }
    });
  }

 private:
  std::unordered_map<const Value*, Type> types_;
};

/// Removes constants that nothing uses any more. Those that nothing used before stay.
class UnusedConstants {
 public:
  explicit UnusedConstants(Model& model) {
    each_graph(model, [&](Graph& g) {
      for (const auto& v : g.values())
        if (is_idle(*v)) kept_.push_back(v.get());
    });
    known_.insert(kept_.begin(), kept_.end());
  }
  void remove(Model& model) {
    each_graph(model, [&](Graph& g) {
      g.remove_nodes_if([&](const Node& n) {
        return is_op(n, "Constant") && n.output(0) != nullptr && is_idle(*n.output(0)) &&
               !known_.contains(n.output(0)) && !is_output(g, n.output(0));
      });
      const std::vector<Value*> outputs = g.outputs;
      for (Value* v : kept_)
        if (&v->graph() == &g) g.outputs.push_back(v);
      g.remove_unused_values();
      g.outputs = outputs;
    });
  }

 private:
  static bool is_idle(const Value& v) { return v.consumers().empty(); }
  static bool is_output(const Graph& g, const Value* v) {
    return std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end();
  }
  std::vector<Value*> kept_;
  std::unordered_set<const Value*> known_;
};

/// What shows when a node is rewritten in place.
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

const OpVersion* neighbour(const OpDef& op, const OpVersion& now, int direction) {
  const size_t i = static_cast<size_t>(&now - op.versions.data()) + static_cast<size_t>(direction);
  return i < op.versions.size() ? &op.versions[i] : nullptr;
}

class Converter final : public RewriteSink {
 public:
  Converter(Model& model, const ConvertOptions& options, ConvertReport& report)
      : model_(model),
        options_(options),
        domain_(plain(options.domain)),
        to_(options.version),
        report_(report) {}

  /// All nodes of a graph, which imports version `from` of the domain.
  void graph(Graph& g, int64_t from);

  void added(Node& node, const Node& anchor, bool after, int64_t opset) override {
    (after ? places_[&anchor].after : places_[&anchor].before).push_back(&node);
    added_.insert(&node);
    schedule(node, opset);
  }
  void added_inside(Node& node, int64_t opset) override {
    made_graphs_.insert(&node.graph());
    schedule(node, opset);
  }
  void removed(Node& node) override { removed_.insert(&node); }
  void note(const Node&, std::string text) override { add_note(fmt::format("{}: {}", label_, text)); }
  bool wants_constant_nodes(const Graph& graph) const override {
    const Graph* root = &graph;
    while (root->parent() != nullptr) root = root->parent();
    return root != model_.graph.get();
  }

 private:
  struct Place {
    std::vector<Node*> before, after;
  };
  struct Pending {
    Node* node;
    int64_t opset;
  };

  void add_note(std::string text) {
    if (std::find(report_.notes.begin(), report_.notes.end(), text) == report_.notes.end())
      report_.notes.push_back(std::move(text));
  }
  void problem(std::string reason, int64_t nearest) {
    report_.problems.push_back({label_, std::move(reason), nearest});
  }
  bool is_ours(const Node& n) const {
    return plain(n.domain) == domain_ && model_.find_function(n.domain, n.op_type, n.overload) == nullptr;
  }

  void schedule(Node& node, int64_t opset);
  void original(Node& n, int64_t from);
  void convert(Node& n, int64_t opset);
  /// One step; returns the opset in which the node is valid now, or nothing when there is no equivalent.
  std::optional<int64_t> step(Node& n, const OpDef& op, const OpVersion& now);
  std::optional<int64_t> expand(Node& n, const OpDef& op);
  int64_t nearest_allowing(const Node& n, const OpDef& op, int64_t from) const;
  void check_types(const Node& n, const OpDef& op, int64_t from);
  void check_added(const Node& n, const OpDef& original, int64_t from);
  void place(const Node& n, std::vector<Node*>& order) const;
  void put_in_order(Graph& g);

  Model& model_;
  const ConvertOptions& options_;
  const std::string domain_;
  const int64_t to_;
  ConvertReport& report_;
  std::unordered_map<const Node*, Place> places_;
  std::unordered_set<const Node*> added_, removed_;
  std::unordered_set<Graph*> made_graphs_;  // the subgraphs of new nodes, not yet in order
  std::vector<Pending> pending_;    // grows while it is worked through
  const Node* original_ = nullptr;  // the model's node that is being converted
  std::string label_;
};

std::optional<int64_t> Converter::step(Node& n, const OpDef& op, const OpVersion& now) {
  const OpVersion* wanted = version_for(op, to_);
  const bool is_up = wanted != nullptr && wanted->since > now.since;
  const OpVersion* other = neighbour(op, now, is_up ? 1 : -1);
  if (other == nullptr) return expand(n, op);
  const int64_t nearest = is_up ? other->since - 1 : now.since;
  const int64_t opset = is_up ? other->since : now.since - 1;
  const Adapter* adapter = step_to(op, is_up ? other->since : now.since).adapter;
  const auto rewrite = adapter == nullptr ? nullptr : is_up ? adapter->up : adapter->down;
  try {
    Rewrite context(n, opset, *this);
    if (rewrite != nullptr) rewrite(context);
  } catch (const NoEquivalent& e) {
    problem(e.reason, nearest);
    return std::nullopt;
  }
  if (removed_.contains(&n) || n.op_type != op.name) return opset;
  infer_node(n, opset);
  const std::vector<std::string> reasons = fit_schema(n, now, *other);
  for (const std::string& reason : reasons) problem(reason, nearest);
  if (!reasons.empty()) return std::nullopt;
  return opset;
}

std::optional<int64_t> Converter::expand(Node& n, const OpDef& op) {
  const int64_t first = op.versions.front().since;
  const Expansion* expansion = find_expansion(op);
  if (expansion == nullptr) {
    problem(fmt::format("the operator {}", op.name), first);
    return std::nullopt;
  }
  try {
    Rewrite context(n, expansion->opset, *this);
    expansion->expand(context);
  } catch (const NoEquivalent& e) {
    problem(fmt::format("the operator {}, which cannot be expressed by older ones: {}", op.name, e.reason),
            first);
    return std::nullopt;
  }
  return expansion->opset;
}

void Converter::convert(Node& n, int64_t opset) {
  std::optional<int64_t> at = opset;
  while (at && *at != to_ && !removed_.contains(&n)) {
    const OpDef* op = find_op(domain_, n.op_type);
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

void Converter::schedule(Node& node, int64_t opset) {
  infer_node(node, opset);
  pending_.push_back({&node, opset});
  ++report_.added;
  if (options_.on_added) options_.on_added(node, *original_);
}

void Converter::original(Node& n, int64_t from) {
  each_subgraph(n, [&](Graph& sub) { graph(sub, from); });
  if (!is_ours(n)) return;
  const OpDef* op = find_op(domain_, n.op_type);
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
    convert(n, from);
    // What is converted may add more.
    for (size_t i = 0; i < pending_.size(); ++i) convert(*pending_[i].node, pending_[i].opset);
  } catch (Error& e) {
    e.add_context("at node " + label_);
    throw;
  }
  if (removed_.contains(&n) || form_of(n) != form) ++report_.rewritten;
  const bool is_same_operator = !removed_.contains(&n) && n.op_type == op->name;
  if (report_.problems.size() == problems) {
    if (is_same_operator) check_types(n, *op, from);
    for (const Pending& p : pending_) check_added(*p.node, *op, from);
  }
  pending_.clear();
}

/// What stands for a node must be allowed the node's types, too.
void Converter::check_added(const Node& n, const OpDef& original, int64_t from) {
  const OpDef* op = find_op(domain_, n.op_type);
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
  for (const auto& n : g.nodes()) nodes.push_back(n.get());
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
  g.reorder_nodes(order);
  // The graph is done with; the address of a node that is gone may become that of another.
  std::erase_if(places_, [&](const auto& entry) { return &entry.first->graph() == &g; });
  std::erase_if(added_, [&](const Node* n) { return &n->graph() == &g; });
  std::unordered_set<const Node*> gone;
  for (const auto& n : g.nodes())
    if (removed_.erase(n.get()) > 0) gone.insert(n.get());
  g.remove_nodes_if([&](const Node& n) { return gone.contains(&n); });
}

/// The import of the domain in a list; null when there is none.
OpsetImport* import_of(std::vector<OpsetImport>& imports, const std::string& domain) {
  for (OpsetImport& o : imports)
    if (plain(o.domain) == domain) return &o;
  return nullptr;
}

/// The oldest IR version that every import needs.
int64_t ir_version_of_imports(const Model& model) {
  int64_t ir = 3;
  const auto add = [&](const std::vector<OpsetImport>& imports) {
    for (const OpsetImport& o : imports) ir = std::max(ir, ir_version_for(o.domain, o.version));
  };
  add(model.opsets);
  for (const Function& f : model.functions) add(f.opsets);
  return ir;
}

/// Up: at least what the imports need. Down: no more than imports and features need.
void set_ir_version(Model& model, bool is_down) {
  const int64_t imports = ir_version_of_imports(model);
  const int64_t wanted =
      is_down ? std::min(model.ir_version, ir_version_of_features(model)) : model.ir_version;
  model.ir_version = std::max(wanted, imports);
  // Initializers that are no inputs came with 4.
  if (model.ir_version < 4) model.ir_version = std::min<int64_t>(ir_version_of_features(model), 4);
}

void check_version(const std::string& domain, int64_t version) {
  const int64_t newest = newest_opset(domain);
  const std::string name = domain.empty() ? "ai.onnx" : domain;
  require(newest > 0, ErrorCode::kInvalidArgument, "no operator of the domain '{}' is known", name);
  require(version >= 1 && version <= newest, ErrorCode::kInvalidArgument,
          "{} is no opset of {}: this build knows 1 to {}", version, name, newest);
}

}  // namespace

std::string ConvertProblem::str(int64_t wanted) const {
  return fmt::format("{}: {} has no equivalent in opset {}; the nearest that has it is {}.", node, reason,
                     wanted, nearest);
}

ConvertReport convert_opset(Model& model, const ConvertOptions& options) {
  const std::string domain = plain(options.domain);
  check_version(domain, options.version);
  check_depth(model);
  OpsetImport* import = import_of(model.opsets, domain);
  require(import != nullptr, ErrorCode::kInvalidArgument, "the model does not import the domain {}",
          domain.empty() ? "ai.onnx" : domain);
  ConvertReport report{.from = import->version, .old_ir_version = model.ir_version};
  require(report.from >= 1 && report.from <= newest_opset(domain), ErrorCode::kUnsupported,
          "the model imports opset {} of {}, and this build knows 1 to {}", report.from,
          domain.empty() ? "ai.onnx" : domain, newest_opset(domain));
  DeclaredTypes declared(model);
  UnusedConstants unused(model);
  infer_shapes(model, {.on_problem = [](const Node&, const std::string&) {}});
  Converter converter(model, options, report);
  converter.graph(*model.graph, report.from);
  for (Function& f : model.functions) {
    OpsetImport* own = import_of(f.opsets, domain);
    if (own == nullptr) continue;
    converter.graph(*f.body, own->version);
    own->version = options.version;
  }
  import_of(model.opsets, domain)->version = options.version;
  declared.restore(model);
  unused.remove(model);
  set_ir_version(model, options.version < report.from);
  return report;
}

}  // namespace assay
