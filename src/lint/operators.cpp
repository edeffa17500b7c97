#include "lint/operators.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "graph/function_index.h"
#include "ops/check.h"
#include "ops/infer.h"
#include "ops/op_set.h"

namespace assay::lint {
namespace {

/// A domain of the ONNX standard, whose operators are all known.
bool is_standard(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "ai.onnx.ml";
}

const Rule& rule_of(NodeRule rule) {
  switch (rule) {
    case NodeRule::kArity:
      return kArity;
    case NodeRule::kLeftOut:
      return kLeftOut;
    case NodeRule::kUnknownAttribute:
      return kUnknownAttribute;
    case NodeRule::kAttributeType:
      return kAttributeType;
    case NodeRule::kMissingAttribute:
      return kMissingAttribute;
    default:
      return kInputType;
  }
}

/// Calls visit(node, place) for every node of a graph and of the subgraphs in it. Where the graph is not the
/// main one, the place names the node, too.
template <typename Visit>
void each_node(const Graph& g, const Place& place, bool is_main, const Visit& visit) {
  for (const auto& n : g.nodes()) {
    Place around = place;
    if (is_main) around = {n->name, n->op_type, {}};
    Place here = around;
    if (!is_main) here.inside += fmt::format("at node {}: ", n->label());
    visit(*n, here);
    for (const Attribute& a : n->attributes) {
      Place inside = around;
      inside.inside += fmt::format("in '{}' of node {}: ", a.name, n->label());
      inside.is_conditional = inside.is_conditional || (n->op_type == "If" && n->domain.empty());
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) each_node(**sub, inside, false, visit);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& sub : *list) each_node(*sub, inside, false, visit);
    }
  }
}

class OperatorCheck {
 public:
  OperatorCheck(Model& model, bool has_run, Report& report)
      : model_(model), functions_(model), report_(report), has_run_(has_run) {
    for (const Entry& e : report.entries())
      if (e.rule == &kRuntimeError) refused_.insert(e.node);
  }
  void run();

 private:
  void node(const Node& n, const Place& place, const std::vector<OpsetImport>& opsets);
  void infer();
  void compare(const Value& v, const Type& declared, const Place& place);

  Model& model_;
  const FunctionIndex functions_;
  Report& report_;
  bool has_run_;
  std::unordered_map<const Node*, Place> places_;
  std::unordered_set<std::string> refused_;  ///< nodes of the main graph that a backend has refused
  std::unordered_set<const Node*> wrong_;    ///< schema rules are violated: inference would report it again
};

/// The imported version of a domain; 0 when it is not imported.
int64_t opset_of(std::string_view domain, const std::vector<OpsetImport>& opsets) {
  for (const OpsetImport& o : opsets)
    if (canonical_domain(o.domain) == canonical_domain(domain)) return o.version;
  return 0;
}

void OperatorCheck::node(const Node& n, const Place& place, const std::vector<OpsetImport>& opsets) {
  places_[&n] = place;
  if (functions_.called(n) != nullptr) return;
  const int64_t opset = opset_of(n.domain, opsets);
  if (opset == 0) return report_.add(kUnimportedDomain, place, domain_name(n.domain));
  const OpDef* op = ops_of(model_).find(n.domain, n.op_type);
  if (op == nullptr) {
    // Of the standard's own domains all operators are known, unless the model imports a newer version.
    if (!has_run_ && is_standard(n.domain) && opset <= ops_of(model_).newest_opset(n.domain))
      return report_.add(kNoSuchOperator, place, domain_name(n.domain), n.op_type);
    return report_.add(kUnknownOperator, place, n.op_type, domain_name(n.domain));
  }
  const OpVersion* version = version_for(*op, opset);
  if (version == nullptr)
    return report_.add(kNewOperator, place, n.op_type, op->versions.front().since, domain_name(n.domain),
                       opset);
  for (const NodeProblem& p : find_node_problems(n, *op, *version)) {
    report_.add(rule_of(p.rule), place, p.message);
    wrong_.insert(&n);
  }
}

std::string shape_text(const Type& t) { return t.dims ? dims_str(*t.dims) : std::string("unknown rank"); }

bool contradicts(const Dims& a, const Dims& b) {
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].is_known() && b[i].is_known() && a[i].value() != b[i].value()) return true;
  return false;
}

void OperatorCheck::compare(const Value& v, const Type& declared, const Place& place) {
  const Type& inferred = v.type;
  if (declared.kind == Type::Kind::kUnknown || inferred.kind == Type::Kind::kUnknown) return;
  const bool both_typed = declared.dtype != DType::kUndefined && inferred.dtype != DType::kUndefined;
  if (declared.kind != inferred.kind || (both_typed && declared.dtype != inferred.dtype))
    return report_.add(place.is_conditional ? kBranchType : kTypeContradiction, place, v.name(),
                       declared.str(), inferred.str());
  if (declared.has_shape() && inferred.has_shape() && contradicts(*declared.dims, *inferred.dims))
    report_.add(place.is_conditional ? kBranchShape : kShapeContradiction, place, v.name(),
                shape_text(declared), shape_text(inferred));
}

/// Infers every type again and compares.
void OperatorCheck::infer() {
  std::unordered_map<const Value*, Type> declared;
  for (const auto& [n, place] : places_)
    for (const Value* v : n->outputs())
      if (v != nullptr) declared.emplace(v, v->type);
  std::unordered_set<const Node*> reported;
  infer_shapes(model_, {.on_problem =
                            [&](const Node& n, const std::string& reason) {
                              const auto it = places_.find(&n);
                              if (it == places_.end() || wrong_.contains(&n) || !reported.insert(&n).second)
                                return;
                              if (refused_.contains(it->second.node)) return;
                              report_.add(it->second.is_conditional ? kBranchRule : kOperatorRule, it->second,
                                          reason.substr(0, reason.rfind(" [at node ")));
                            },
                        .keep_declared = false});
  each_node(*model_.graph, {}, true, [&](const Node& n, const Place& place) {
    for (const Value* v : n.outputs())
      if (v != nullptr) compare(*v, declared[v], place);
  });
}

void OperatorCheck::run() {
  for (const Function& f : model_.functions)
    each_node(*f.body, {.inside = fmt::format("in function '{}': ", f.name)}, false,
              [&](const Node& n, const Place& place) { node(n, place, f.opsets); });
  each_node(*model_.graph, {}, true,
            [&](const Node& n, const Place& place) { node(n, place, model_.opsets); });
  infer();
}

}  // namespace

void check_operators(Model& model, bool has_run, Report& report) {
  OperatorCheck(model, has_run, report).run();
}

}  // namespace assay::lint
