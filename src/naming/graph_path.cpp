#include "naming/graph_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "assay/error.h"
#include "base/name_pattern.h"
#include "base/similar_name.h"
#include "graph/order.h"
#include "graph/read.h"

namespace assay {
namespace {

constexpr std::string_view kSeparator = "::", kFunction = "function:";

/// The graphs of a node and their names in paths.
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

std::string function_name(const Function& f) {
  return (f.domain.empty() ? f.name : f.domain + "." + f.name) + (f.overload.empty() ? "" : ":" + f.overload);
}

[[noreturn]] void fail_to_find(const char* what, std::string_view name,
                               const std::vector<std::string_view>& candidates) {
  Error e(ErrorCode::kNotFound, fmt::format("{}: {} does not exist in the model", what, name));
  throw e.set_remedy(name_hint(name, candidates));
}

/// Positions of the separators in a text, last first.
std::vector<size_t> separators(std::string_view text) {
  std::vector<size_t> list;
  for (size_t at = text.rfind(kSeparator); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(kSeparator, at - 1))
    list.push_back(at);
  return list;
}

/// True when a glob with the separator matches names of this graph.
bool matches_names(const Graph& g, std::string_view spec) {
  if (!is_glob(spec)) return false;
  const NamePattern glob(spec);
  return std::any_of(g.nodes().begin(), g.nodes().end(),
                     [&](const auto& n) { return glob.matches(n->name); }) ||
         std::any_of(g.values().begin(), g.values().end(),
                     [&](const auto& v) { return glob.matches(v->name()); });
}

/// Lists a graph and all inside it.
class PlaceList {
 public:
  explicit PlaceList(const Model& model) : paths_(model) {}

  void add(const GraphPlace& place) {
    list_.push_back(place);
    for (const auto& n : place.graph->nodes()) {
      if (!has_subgraph(*n)) continue;
      for (const auto& [attribute, g] : held_graphs(*n)) {
        GraphPlace inner = place;
        inner.graph = g;
        inner.holders.push_back(n.get());
        inner.has_path = place.has_path && set_path(inner, place.path, *n, attribute);
        if (!inner.has_path) inner.path.clear();
        add(inner);
      }
    }
  }
  bool is_path_of(const std::string& path, const Graph* g) {
    try {
      return paths_.graph(path) == g;
    } catch (const Error&) {
      return false;
    }
  }
  std::vector<GraphPlace> take() { return std::move(list_); }

 private:
  /// Tries the names of the node one after the other.
  bool set_path(GraphPlace& place, const std::string& outer, const Node& holder,
                const std::string& attribute) {
    const auto fits = [&](const std::string& name) {
      if (name.empty() || paths_.find_node(holder.graph(), name) != &holder) return false;
      place.path = fmt::format("{}{}{}::{}", outer, outer.empty() ? "" : "::", name, attribute);
      return is_path_of(place.path, place.graph);
    };
    if (fits(holder.name)) return true;
    return std::any_of(holder.outputs().begin(), holder.outputs().end(),
                       [&](const Value* v) { return v != nullptr && fits(v->name()); });
  }

  GraphPaths paths_;
  std::vector<GraphPlace> list_;
};

}  // namespace

const GraphPaths::Names& GraphPaths::names(const Graph& g) {
  const auto [it, is_new] = names_.try_emplace(&g);
  if (is_new)
    for (const auto& n : g.nodes())
      if (!n->name.empty()) it->second.emplace(n->name, n.get());
  return it->second;
}

const Node* GraphPaths::find_node(const Graph& g, std::string_view name) {
  const Names& known = names(g);
  if (const auto it = known.find(name); it != known.end()) return it->second;
  const Value* v = g.find_value(name);
  return v != nullptr ? v->producer() : nullptr;
}

bool GraphPaths::step_into_function(GraphSpec& place) const {
  if (place.graph != model_.graph.get() || !place.spec.starts_with(kFunction)) return false;
  const std::string_view text = place.spec.substr(kFunction.size());
  for (const size_t end : separators(text)) {
    const std::string_view name = text.substr(0, end);
    std::vector<const Function*> found;
    for (const Function& f : model_.functions) {
      if (function_name(f) == name) {  // a full match takes precedence
        found = {&f};
        break;
      }
      if (f.name == name) found.push_back(&f);
    }
    if (found.empty()) continue;
    if (found.size() > 1) {
      std::string all;
      for (const Function* f : found) all += (all.empty() ? "" : ", ") + function_name(*f);
      fail(ErrorCode::kInvalidArgument, "'{}' may be one of several functions: name it in full, {}", name,
           all);
    }
    place = {found[0]->body.get(), text.substr(end + kSeparator.size())};
    return true;
  }
  std::vector<std::string> full;
  for (const Function& f : model_.functions) full.push_back(function_name(f));
  fail_to_find("Function", text.substr(0, text.find(kSeparator)), {full.begin(), full.end()});
}

void GraphPaths::fail_to_find_holder(const GraphSpec& place) {
  const std::string_view name = place.spec.substr(0, place.spec.find(kSeparator));
  require(find_node(*place.graph, name) == nullptr, ErrorCode::kNotFound, "the node '{}' holds no subgraph",
          name);
  std::vector<std::string_view> candidates;
  for (const auto& n : place.graph->nodes())
    if (has_subgraph(*n)) candidates.push_back(n->name);
  fail_to_find("Node", name, candidates);
}

bool GraphPaths::step(GraphSpec& place) {
  const std::vector<size_t> ends = separators(place.spec);
  if (ends.empty() || place.spec.starts_with(kRegexPrefix)) return false;
  const Node* holder = nullptr;
  size_t end = 0;
  for (const size_t e : ends) {  // a longer name first: it may hold the separator itself
    const Node* n = find_node(*place.graph, place.spec.substr(0, e));
    if (n == nullptr || !has_subgraph(*n)) continue;
    holder = n;
    end = e;
    break;
  }
  if (holder == nullptr) {
    if (matches_names(*place.graph, place.spec)) return false;
    if (step_into_function(place)) return true;
    fail_to_find_holder(place);
  }
  const std::string_view name = place.spec.substr(0, end), rest = place.spec.substr(end + kSeparator.size());
  const auto graphs = held_graphs(*holder);
  for (const auto& [attribute, g] : graphs) {
    if (!rest.starts_with(attribute + std::string(kSeparator))) continue;
    place = {g, rest.substr(attribute.size() + kSeparator.size())};
    return true;
  }
  if (graphs.size() == 1) {
    place = {graphs[0].second, rest};
    return true;
  }
  std::string all;
  for (const auto& [attribute, g] : graphs) all += (all.empty() ? "" : ", ") + attribute;
  fail(ErrorCode::kInvalidArgument,
       "the node '{}' holds several subgraphs: name one of them, {}, as in {}::{}::...", name, all, name,
       graphs[0].first);
}

GraphSpec GraphPaths::follow(std::string_view spec, Kind kind) {
  GraphSpec place{model_.graph.get(), spec};
  const auto is_name = [&] {
    return kind == Kind::kTensor ? place.graph->find_value(place.spec) != nullptr
                                 : find_node(*place.graph, place.spec) != nullptr;
  };
  while (!is_name() && step(place)) {
  }
  return place;
}

Graph* GraphPaths::graph(std::string_view path) {
  const std::string whole = std::string(path) + std::string(kSeparator);
  GraphSpec place{model_.graph.get(), path.empty() ? std::string_view() : std::string_view(whole)};
  while (!place.spec.empty() && step(place)) {
  }
  require(place.spec.empty(), ErrorCode::kInvalidArgument, "'{}' is not a path of a graph", path);
  return place.graph;
}

namespace {

/// Whether a node or tensor of the main graph has a name that begins as the paths of functions do.
bool has_names_like_functions(const Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(),
                     [](const auto& n) { return n->name.starts_with(kFunction); }) ||
         std::any_of(g.values().begin(), g.values().end(),
                     [](const auto& v) { return v->name().starts_with(kFunction); });
}

}  // namespace

std::vector<GraphPlace> graph_places(const Model& model) {
  check_depth(model);
  PlaceList list(model);
  list.add({.graph = model.graph.get()});
  std::unordered_map<std::string, int> full_names;
  for (const Function& f : model.functions) ++full_names[function_name(f)];
  const bool is_ambiguous = !model.functions.empty() && has_names_like_functions(*model.graph);
  for (const Function& f : model.functions) {
    GraphPlace body{.graph = f.body.get(), .path = std::string(kFunction) + function_name(f), .function = &f};
    // Following the path would search all functions.
    body.has_path =
        (!is_ambiguous && full_names[function_name(f)] == 1) || list.is_path_of(body.path, body.graph);
    if (!body.has_path) body.path.clear();
    list.add(body);
  }
  return list.take();
}

}  // namespace assay
