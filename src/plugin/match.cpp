#include "plugin/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "assay/error.h"
#include "assay/pattern.h"
#include "base/diagnostics.h"
#include "graph/clone.h"
#include "naming/graph_path.h"

namespace assay {
namespace {

/// The context of conditions on one node.
class NodeScope final : public ExpressionScope {
 public:
  NodeScope(const Node& node, const Model& model) : node_(node), model_(model) {}
  const Node* node(std::string_view) const override { return &node_; }
  const Value* tensor(std::string_view) const override { return nullptr; }
  const Model& model() const override { return model_; }

 private:
  const Node& node_;
  const Model& model_;
};

/// The context of expressions on a whole match.
class MatchScope final : public ExpressionScope {
 public:
  MatchScope(const PluginPattern& pattern, const PatternMapping& mapping, const Model& model)
      : mapping_(mapping), model_(model) {
    for (size_t i = 0; i < pattern.inputs.size(); ++i) tensors_[pattern.inputs[i]] = mapping.inputs()[i];
    for (const std::string& c : pattern.constants) tensors_[c] = mapping.constant(c);
    for (const PluginPatternNode& n : pattern.nodes)
      for (size_t i = 0; i < n.outputs.size(); ++i) tensors_[n.outputs[i]] = mapping.node(n.name)->output(i);
  }
  const Node* node(std::string_view name) const override { return mapping_.node(name); }
  const Value* tensor(std::string_view name) const override { return tensors_.find(name)->second; }
  const Model& model() const override { return model_; }

 private:
  const PatternMapping& mapping_;
  const Model& model_;
  std::map<std::string, const Value*, std::less<>> tensors_;
};

bool holds(const Expression& condition, const ExpressionScope& scope) {
  try {
    return condition.holds(scope);
  } catch (const Error& e) {
    diag::verbose("No match: {}", e.what());
    return false;
  }
}

YamlNode yaml_of(const ExpressionValue& v) {
  if (const auto* b = v.get_if<bool>()) return *b;
  if (const auto* i = v.get_if<int64_t>()) return *i;
  if (const auto* d = v.get_if<double>()) return *d;
  if (const auto* s = v.get_if<std::string>()) return *s;
  const auto* list = v.get_if<ExpressionValue::List>();
  require(list != nullptr, ErrorCode::kInvalidArgument, "it gives an extent that is not known");
  YamlNode::List items;
  for (const ExpressionValue& item : *list) items.push_back(yaml_of(item));
  return items;
}

bool has_all_slots(const std::vector<std::string>& names, const std::vector<Value*>& values) {
  for (size_t i = 0; i < names.size() && i < values.size(); ++i)
    if (names[i].empty() != (values[i] == nullptr)) return false;
  return true;
}

}  // namespace

/// Searches matches of one plugin.
class PluginMatching {
 public:
  PluginMatching(const PluginPattern& pattern, const Model& model, PluginClaims& claims)
      : pattern_(pattern), model_(model), claims_(claims) {}

  PluginMatches run() {
    PluginMatches found{.name = pattern_.name, .op = pattern_.op, .domain = pattern_.domain};
    const GraphPattern pattern = graph_pattern();
    for (const GraphPlace& place : graph_places(model_)) {
      imports_ = scope_of(model_, place.function != nullptr ? place.function->opsets : model_.opsets);
      for (const PatternMapping& mapping : pattern.match_all(*place.graph)) {
        const MatchScope scope(pattern_, mapping, imports_);
        const bool fits =
            std::all_of(whole_.begin(), whole_.end(), [&](const auto* e) { return holds(*e, scope); });
        if (!fits || !claim(mapping, place)) continue;
        if (place.has_path)
          found.instances.push_back(instance(mapping, scope, place));
        else
          claims_.unnamed_.push_back({pattern_.name, mapping.nodes()[0]->label()});
      }
    }
    return found;
  }

 private:
  GraphPattern graph_pattern() {
    GraphPattern graph;
    std::map<std::string, GraphPattern::TensorId> ids;
    for (const std::string& t : pattern_.inputs) ids[t] = graph.variable();
    for (const std::string& t : pattern_.constants) ids[t] = graph.constant(t);
    std::map<std::string, std::vector<const Expression*>> of_node;
    for (const Expression& e : pattern_.conditions) {
      if (e.nodes().size() == 1 && e.tensors().empty())
        of_node[*e.nodes().begin()].push_back(&e);
      else
        whole_.push_back(&e);
    }
    for (const PluginPatternNode& n : pattern_.nodes) {
      std::vector<GraphPattern::TensorId> inputs;
      for (const std::string& t : n.inputs) inputs.push_back(t.empty() ? graph.variable() : ids.at(t));
      const auto outputs = graph.add(n.name, n.op, inputs, n.outputs.size(), node_check(n, of_node[n.name]));
      for (size_t i = 0; i < n.outputs.size(); ++i) ids[n.outputs[i]] = outputs[i];
    }
    std::vector<GraphPattern::TensorId> outputs;
    for (const std::string& t : pattern_.outputs) outputs.push_back(ids.at(t));
    graph.set_outputs(std::move(outputs));
    return graph;
  }

  GraphPattern::Check node_check(const PluginPatternNode& n,
                                 std::vector<const Expression*> conditions) const {
    return [this, &n, conditions = std::move(conditions)](const Node& node) {
      if (n.domain && node.domain != *n.domain) return false;
      if (!has_all_slots(n.inputs, node.inputs()) || !has_all_slots(n.outputs, node.outputs())) return false;
      const NodeScope scope(node, imports_);
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const auto* e) { return holds(*e, scope); });
    };
  }

  using Claim = PluginClaims::Claim;

  /// Owners of a node, of nodes inside it or around it.
  struct Taken {
    std::vector<const Claim*> nodes;  // of the match's own
    const Claim* first = nullptr;
    const Node* shared = nullptr;
  };

  Taken find_taken(const std::vector<Node*>& nodes, const GraphPlace& place) const {
    Taken taken;
    const auto look = [&](const auto& claims, const Node* n) -> const Claim* {
      const auto it = claims.find(n);
      if (it == claims.end()) return nullptr;
      if (taken.first == nullptr) taken = {std::move(taken.nodes), &it->second, n};
      return &it->second;
    };
    for (const Node* n : nodes) {
      if (const Claim* c = look(claims_.nodes_, n)) taken.nodes.push_back(c);
      look(claims_.holders_, n);
    }
    for (const Node* n : place.holders) look(claims_.nodes_, n);
    return taken;
  }

  /// Claims the nodes of a match; false when it is rejected.
  bool claim(const PatternMapping& mapping, const GraphPlace& place) {
    std::vector<Node*> nodes = mapping.nodes();
    std::erase_if(nodes, [](const Node* n) { return n->op_type == "Constant"; });
    const Taken taken = find_taken(nodes, place);
    if (taken.first == nullptr) {
      const Claim own{pattern_.name, claims_.matches_++};
      for (const Node* n : nodes) claims_.nodes_[n] = own;
      for (const Node* n : place.holders) claims_.holders_.emplace(n, own);
      return true;
    }
    // The same nodes, found from another of the first input's consumers, are the same match.
    const bool is_same = taken.nodes.size() == nodes.size() && taken.first->plugin == pattern_.name &&
                         std::all_of(taken.nodes.begin(), taken.nodes.end(),
                                     [&](const auto* c) { return c->match == taken.first->match; });
    if (!is_same)
      claims_.overlaps_.push_back(
          {pattern_.name, label_in(*nodes[0], place), taken.first->plugin, taken.shared->label()});
    return false;
  }

  static std::string label_in(const Node& n, const GraphPlace& place) {
    return place.path.empty() ? n.label() : fmt::format("{} in {}", n.label(), place.path);
  }

  PluginInstance instance(const PatternMapping& mapping, const MatchScope& scope,
                          const GraphPlace& place) const {
    PluginInstance out;
    out.graph = place.path;
    for (const std::string& t : pattern_.replacement_inputs) out.inputs.push_back(scope.tensor(t)->name());
    for (const Value* v : mapping.outputs()) out.outputs.push_back(v->name());
    for (const auto& [name, attribute] : pattern_.attributes) {
      const auto* expression = std::get_if<Expression>(&attribute);
      const auto context = [&, &name = name] {
        return fmt::format("for attribute '{}' of plugin {} where it matches from node {}", name,
                           pattern_.name, label_in(*mapping.nodes()[0], place));
      };
      out.attributes.emplace_back(name, with_context(context, [&, &attribute = attribute] {
                                    return expression != nullptr ? yaml_of(expression->evaluate(scope))
                                                                 : std::get<YamlNode>(attribute);
                                  }));
    }
    return out;
  }

  const PluginPattern& pattern_;
  const Model& model_;
  Model imports_;  // with the opsets of the current graph
  PluginClaims& claims_;
  std::vector<const Expression*> whole_;  // conditions that need a whole match
};

PluginMatches match_plugin(const PluginPattern& pattern, const Model& model, PluginClaims& claims) {
  return PluginMatching(pattern, model, claims).run();
}

}  // namespace assay
