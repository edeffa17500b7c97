#include "naming/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/name_pattern.h"
#include "naming/graph_path.h"

namespace assay {
namespace {

constexpr std::string_view kOperator = "op:";
constexpr size_t kMaxElsewhere = 3;

std::string operator_name(const Node& n) { return n.domain.empty() ? n.op_type : n.domain + "." + n.op_type; }

bool is_pattern(std::string_view spec) { return spec.starts_with(kRegexPrefix) || is_glob(spec); }

/// The graph of a spec, and the rest within it.
struct Target {
  Graph* graph;
  std::string_view path, last;  ///< the path with its separator
};

Target find_target(Model& model, std::string_view spec, GraphPaths::Kind kind) {
  const auto [graph, last] = GraphPaths(model).follow(spec, kind);
  return {graph, spec.substr(0, spec.size() - last.size()), last};
}

/// Suggests names in the spec's graph; otherwise exact matches in the whole model.
[[noreturn]] void fail_to_find(const Model& model, GraphPaths::Kind kind, std::string_view spec,
                               const Target& target) {
  const bool is_tensor = kind == GraphPaths::Kind::kTensor;
  std::vector<std::string> names;
  if (target.last.starts_with(kOperator)) {
    for (const auto& n : target.graph->nodes())
      names.push_back(fmt::format("{}{}{}", target.path, kOperator, operator_name(*n)));
  } else if (is_tensor) {
    for (const auto& v : target.graph->values()) names.push_back(fmt::format("{}{}", target.path, v->name()));
  } else {
    for (const auto& n : target.graph->nodes()) names.push_back(fmt::format("{}{}", target.path, n->name));
  }
  const bool is_plain = !is_pattern(target.last);
  Error e(ErrorCode::kNotFound,
          fmt::format("{}: {} does not exist in the model", is_tensor ? "Tensor" : "Node", spec));
  // For a regular expression, the path is ignored, because the prefix is not part of it.
  const std::string_view wanted = target.last.starts_with(kRegexPrefix) ? target.last : spec;
  std::string hint = spec_hint(wanted, names);
  if (!hint.empty() || !is_plain) throw e.set_remedy(std::move(hint));
  std::vector<std::string> elsewhere;
  for (const GraphPlace& place : graph_places(model)) {
    if (!place.has_path || place.graph == target.graph) continue;
    const auto& nodes = place.graph->nodes();
    const auto is_named = [&](const auto& n) { return n->name == target.last; };
    const bool has_it = is_tensor ? place.graph->find_value(target.last) != nullptr
                                  : std::any_of(nodes.begin(), nodes.end(), is_named);
    if (has_it)
      elsewhere.push_back(fmt::format("{}{}{}", place.path, place.path.empty() ? "" : "::", target.last));
    if (elsewhere.size() == kMaxElsewhere) break;
  }
  if (!elsewhere.empty()) e.set_remedy(fmt::format("There is '{}'.", fmt::join(elsewhere, "', '")));
  throw e;
}

}  // namespace

std::vector<Node*> select_nodes(Model& model, std::string_view spec) {
  const Target target = find_target(model, spec, GraphPaths::Kind::kNode);
  const auto [graph, path, last] = target;
  std::vector<Node*> found;
  const auto collect = [&](const auto& test) {
    for (const auto& n : graph->nodes())
      if (test(*n)) found.push_back(n.get());
  };
  collect([&, last = last](const Node& n) { return n.name == last; });
  if (found.empty())
    collect([v = graph->find_value(last)](const Node& n) {
      return v != nullptr && n.name.empty() && v->producer() == &n;
    });
  if (found.empty() && last.starts_with(kOperator))
    collect([op = last.substr(kOperator.size())](const Node& n) { return operator_name(n) == op; });
  else if (found.empty() && (is_pattern(last)))
    collect([test = NamePattern(last)](const Node& n) { return test.matches(n.name); });
  if (found.empty()) fail_to_find(model, GraphPaths::Kind::kNode, spec, target);
  return found;
}

std::vector<Value*> select_values(Model& model, std::string_view spec) {
  const Target target = find_target(model, spec, GraphPaths::Kind::kTensor);
  const auto [graph, path, last] = target;
  if (Value* v = graph->find_value(last)) return {v};
  std::vector<Value*> found;
  if (last.starts_with(kOperator)) {
    for (const auto& n : graph->nodes())
      if (operator_name(*n) == last.substr(kOperator.size()))
        for (Value* v : n->outputs())
          if (v != nullptr) found.push_back(v);
  } else if (is_pattern(last)) {
    const NamePattern test(last);
    std::unordered_set<const Value*> seen;
    const auto visit = [&, graph = graph](Value* v) {
      if (&v->graph() == graph && seen.insert(v).second && test.matches(v->name())) found.push_back(v);
    };
    for (Value* v : tensors(*graph)) visit(v);
    for (const auto& v : graph->values()) visit(v.get());  // includes values that only subgraphs use
  }
  if (found.empty()) fail_to_find(model, GraphPaths::Kind::kTensor, spec, target);
  return found;
}

std::vector<Value*> select_inputs(const Model& model, std::string_view spec) {
  const NamePattern pattern(spec);
  std::vector<Value*> exact, fitting;
  std::vector<std::string> names;
  for (Value* v : model.graph->inputs) {
    names.push_back(v->name());
    if (pattern.is_name(v->name())) exact.push_back(v);
    if (pattern.matches(v->name())) fitting.push_back(v);
  }
  if (!exact.empty() || !fitting.empty()) return exact.empty() ? fitting : exact;
  Error e(ErrorCode::kNotFound,
          fmt::format("the model has no input '{}'; its inputs are '{}'", spec, fmt::join(names, "', '")));
  throw e.set_remedy(spec_hint(spec, names));
}

}  // namespace assay
