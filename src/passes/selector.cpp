#include "passes/selector.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <string>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/similar_name.h"

namespace assay {
namespace {

constexpr std::string_view kSeparator = "::", kRegex = "re:", kOperator = "op:", kFunction = "function:";

[[noreturn]] void fail_to_find(const char* what, std::string_view spec,
                               const std::vector<std::string_view>& candidates) {
  Error e(ErrorCode::kNotFound, fmt::format("{}: {} does not exist in the model", what, spec));
  if (const std::vector<std::string> near = nearest_names(spec, candidates); !near.empty())
    e.set_remedy(fmt::format("Did you mean '{}'?", fmt::join(near, "', '")));
  throw e;
}

bool is_glob(std::string_view spec) { return spec.find_first_of("*?[") != std::string_view::npos; }

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

std::string operator_name(const Node& n) { return n.domain.empty() ? n.op_type : n.domain + "." + n.op_type; }

/// Where a spec looks, and what for.
struct Place {
  Graph* graph;
  std::string_view spec;
};

const Node* find_node(const Graph& g, std::string_view name) {
  for (const auto& n : g.nodes())
    if (n->name == name) return n.get();
  // One without a name goes by the name of its first output.
  const Value* v = g.find_value(name);
  return v != nullptr ? v->producer() : nullptr;
}

std::vector<std::pair<std::string, Graph*>> held_graphs(const Node& n) {
  std::vector<std::pair<std::string, Graph*>> list;
  for (const Attribute& a : n.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) list.emplace_back(a.name, g->get());
    if (const auto* graphs = a.get_if<Attribute::Graphs>())
      for (size_t i = 0; i < graphs->size(); ++i)
        list.emplace_back(fmt::format("{}[{}]", a.name, i), (*graphs)[i].get());
  }
  return list;
}

Graph* function_body(Model& model, std::string_view name) {
  std::vector<std::string> full;
  for (const Function& f : model.functions) {
    full.push_back(f.domain.empty() ? f.name : f.domain + "." + f.name);
    if (name == f.name || name == full.back()) return f.body.get();
  }
  const std::vector<std::string_view> candidates(full.begin(), full.end());
  fail_to_find("Function", name, candidates);
}

/// Takes one step of a path off the front of the spec; false when the rest is no path.
bool step(Model& model, Place& place) {
  const size_t end = place.spec.find(kSeparator);
  if (end == std::string_view::npos || place.graph->find_value(place.spec) != nullptr ||
      place.spec.starts_with(kRegex))
    return false;
  const std::string_view name = place.spec.substr(0, end);
  std::string_view rest = place.spec.substr(end + kSeparator.size());
  if (name.starts_with(kFunction)) {
    place = {function_body(model, name.substr(kFunction.size())), rest};
    return true;
  }
  const Node* holder = find_node(*place.graph, name);
  if (holder == nullptr) {
    std::vector<std::string_view> candidates;
    for (const auto& n : place.graph->nodes())
      if (!held_graphs(*n).empty()) candidates.push_back(n->name);
    fail_to_find("Node", name, candidates);
  }
  const auto graphs = held_graphs(*holder);
  require(!graphs.empty(), ErrorCode::kNotFound, "the node '{}' holds no subgraph", name);
  for (const auto& [attribute, g] : graphs) {
    if (!rest.starts_with(attribute + std::string(kSeparator))) continue;
    place = {g, rest.substr(attribute.size() + kSeparator.size())};
    return true;
  }
  if (graphs.size() == 1) {
    place = {graphs[0].second, rest};
    return true;
  }
  std::string names;
  for (const auto& [attribute, g] : graphs) names += (names.empty() ? "" : ", ") + attribute;
  fail(ErrorCode::kInvalidArgument,
       "the node '{}' holds several subgraphs: name one of them, {}, as in {}::{}::...", name, names, name,
       graphs[0].first);
}

Place find_place(Model& model, std::string_view spec) {
  Place place{model.graph.get(), spec};
  while (step(model, place)) {
  }
  return place;
}

}  // namespace

std::vector<Node*> select_nodes(Model& model, std::string_view spec) {
  const auto [graph, last] = find_place(model, spec);
  std::vector<Node*> found;
  const auto collect = [&](const auto& test) {
    for (const auto& n : graph->nodes())
      if (test(*n)) found.push_back(n.get());
  };
  collect([&, last = last](const Node& n) { return n.name == last; });
  if (found.empty() && last.starts_with(kOperator))
    collect([op = last.substr(kOperator.size())](const Node& n) { return operator_name(n) == op; });
  else if (found.empty() && (last.starts_with(kRegex) || is_glob(last)))
    collect([test = name_test(last)](const Node& n) { return test(n.name); });
  if (!found.empty()) return found;
  std::vector<std::string_view> candidates;
  for (const auto& n : graph->nodes()) candidates.push_back(n->name);
  fail_to_find("Node", last, candidates);
}

std::vector<Value*> select_values(Model& model, std::string_view spec) {
  const auto [graph, last] = find_place(model, spec);
  if (Value* v = graph->find_value(last)) return {v};
  const std::vector<Value*> all = tensors(*graph);
  std::vector<Value*> found;
  if (last.starts_with(kOperator)) {
    for (const auto& n : graph->nodes())
      if (operator_name(*n) == last.substr(kOperator.size()))
        for (Value* v : n->outputs())
          if (v != nullptr) found.push_back(v);
  } else if (last.starts_with(kRegex) || is_glob(last)) {
    const auto test = name_test(last);
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Value* v) { return &v->graph() == graph && test(v->name()); });
  }
  if (!found.empty()) return found;
  std::vector<std::string_view> candidates;
  for (const Value* v : all) candidates.push_back(v->name());
  fail_to_find("Tensor", last, candidates);
}

}  // namespace assay
