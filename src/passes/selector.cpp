#include "passes/selector.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/similar_name.h"
#include "passes/graph_path.h"

namespace assay {
namespace {

constexpr std::string_view kRegex = "re:", kOperator = "op:";
constexpr size_t kMostElsewhere = 3;

std::string operator_name(const Node& n) { return n.domain.empty() ? n.op_type : n.domain + "." + n.op_type; }

/// The text that a name must resemble: of a GLOB or a REGEX without the characters that mean something.
std::string plain_text(std::string_view spec) {
  if (spec.starts_with(kRegex)) spec.remove_prefix(kRegex.size());
  std::string text;
  for (const char c : spec)
    if (std::string_view("*?[]()|^$+\\{}").find(c) == std::string_view::npos) text += c;
  return text;
}

/// Which graph a spec means, and what in it.
struct Target {
  Graph* graph;
  std::string_view path, last;  ///< the path with its separator
};

Target find_target(Model& model, std::string_view spec, GraphPaths::Kind kind) {
  const auto [graph, last] = GraphPaths(model).follow(spec, kind);
  return {graph, spec.substr(0, spec.size() - last.size()), last};
}

/// Suggests names in the graph that the spec means; else those of the whole model that are exactly so.
[[noreturn]] void fail_to_find(const Model& model, GraphPaths::Kind kind, std::string_view spec, const Target& target) {
  const bool is_tensor = kind == GraphPaths::Kind::kTensor;
  std::vector<std::string> names;
  if (target.last.starts_with(kOperator)) {
    for (const auto& n : target.graph->nodes()) names.push_back(fmt::format("{}{}{}", target.path, kOperator, operator_name(*n)));
  } else if (is_tensor) {
    for (const auto& v : target.graph->values()) names.push_back(fmt::format("{}{}", target.path, v->name()));
  } else {
    for (const auto& n : target.graph->nodes()) names.push_back(fmt::format("{}{}", target.path, n->name));
  }
  const bool is_plain = !target.last.starts_with(kRegex) && !is_glob(target.last);
  Error e(ErrorCode::kNotFound, fmt::format("{}: {} does not exist in the model", is_tensor ? "Tensor" : "Node", spec));
  const std::string wanted = fmt::format("{}{}", target.path, is_plain ? std::string(target.last) : plain_text(target.last));
  std::string hint = name_hint(wanted, std::vector<std::string_view>(names.begin(), names.end()));
  if (!hint.empty() || !is_plain) throw e.set_remedy(std::move(hint));
  std::vector<std::string> elsewhere;
  for (const GraphPlace& place : graph_places(model)) {
    if (!place.has_path || place.graph == target.graph) continue;
    const auto& nodes = place.graph->nodes();
    const bool has_it = is_tensor ? place.graph->find_value(target.last) != nullptr
                                  : std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n->name == target.last; });
    if (has_it) elsewhere.push_back(fmt::format("{}{}{}", place.path, place.path.empty() ? "" : "::", target.last));
    if (elsewhere.size() == kMostElsewhere) break;
  }
  if (!elsewhere.empty()) e.set_remedy(fmt::format("There is '{}'.", fmt::join(elsewhere, "', '")));
  throw e;
}

/// What a GLOB or a REGEX says of a name.
std::function<bool(const std::string&)> name_test(std::string_view spec) {
  if (!spec.starts_with(kRegex)) {
    return [glob = std::string(spec)](const std::string& name) {
      return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
    };
  }
  const auto regex = std::make_shared<RE2>(std::string(spec.substr(kRegex.size())), RE2::Quiet);
  require(regex->ok(), ErrorCode::kInvalidArgument, "'{}' is no regular expression: {}", spec,
          regex->error());
  return [regex](const std::string& name) { return RE2::FullMatch(name, *regex); };
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
  else if (found.empty() && (last.starts_with(kRegex) || is_glob(last)))
    collect([test = name_test(last)](const Node& n) { return test(n.name); });
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
  } else if (last.starts_with(kRegex) || is_glob(last)) {
    const auto test = name_test(last);
    std::unordered_set<const Value*> seen;
    const auto visit = [&, graph = graph](Value* v) {
      if (&v->graph() == graph && seen.insert(v).second && test(v->name())) found.push_back(v);
    };
    for (Value* v : tensors(*graph)) visit(v);
    for (const auto& v : graph->values()) visit(v.get());  // those that only subgraphs use
  }
  if (found.empty()) fail_to_find(model, GraphPaths::Kind::kTensor, spec, target);
  return found;
}

}  // namespace assay
