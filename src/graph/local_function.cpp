#include "graph/local_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "assay/edit.h"

namespace assay {
namespace {

/// Calls `visit` for every node, those of subgraphs included.
template <typename Visit>
void for_each_node(const Graph& g, const Visit& visit) {
  for (const auto& n : g.nodes()) visit(*n);
  for (const Graph* sub : subgraphs(g, true))
    for (const auto& n : sub->nodes()) visit(*n);
}

/// The functions that each function calls, by number.
std::vector<std::vector<size_t>> call_lists(const std::vector<Function>& functions) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, size_t> numbers;
  for (size_t i = 0; i < functions.size(); ++i)
    numbers.emplace(Key{canonical_domain(functions[i].domain), functions[i].name, functions[i].overload}, i);
  std::vector<std::vector<size_t>> calls(functions.size());
  for (size_t i = 0; i < functions.size(); ++i)
    for_each_node(*functions[i].body, [&](const Node& n) {
      const auto it = numbers.find(Key{canonical_domain(n.domain), n.op_type, n.overload});
      if (it != numbers.end()) calls[i].push_back(it->second);
    });
  return calls;
}

/// Depth-first without recursion: chains of calls may be deeper than the stack.
std::vector<size_t> callees_first(const std::vector<Function>& functions) {
  const std::vector<std::vector<size_t>> calls = call_lists(functions);
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(functions.size(), Mark::kNew);
  std::vector<size_t> order, next(functions.size()), path;
  for (size_t root = 0; root < functions.size(); ++root) {
    if (marks[root] == Mark::kNew) path.push_back(root);
    while (!path.empty()) {
      const size_t f = path.back();
      marks[f] = Mark::kOpen;
      if (next[f] == calls[f].size()) {
        marks[f] = Mark::kDone;
        order.push_back(f);
        path.pop_back();
        continue;
      }
      const size_t callee = calls[f][next[f]++];
      if (marks[callee] == Mark::kOpen) {
        std::string text;
        for (auto at = std::find(path.begin(), path.end(), callee); at != path.end(); ++at)
          text += functions[*at].name + " -> ";
        fail(ErrorCode::kInvalidModel, "local functions call each other in a cycle: {}{}", text,
             functions[callee].name);
      }
      if (marks[callee] == Mark::kNew) path.push_back(callee);
    }
  }
  return order;
}

void check_attributes(const Function& f, const AttributeList& given) {
  const auto is_given = [&](const std::string& name) {
    return std::any_of(given.begin(), given.end(), [&](const auto& a) { return a.first == name; });
  };
  for (const std::string& name : f.attribute_names)
    require(is_given(name), ErrorCode::kInvalidArgument, "the function '{}' needs the attribute '{}'", f.name,
            name);
  for (const auto& [name, data] : given) {
    const bool is_known =
        std::find(f.attribute_names.begin(), f.attribute_names.end(), name) != f.attribute_names.end() ||
        std::any_of(f.attribute_defaults.begin(), f.attribute_defaults.end(),
                    [&, &n = name](const Attribute& a) { return a.name == n; });
    require(is_known, ErrorCode::kInvalidArgument, "the function '{}' has no attribute '{}'", f.name, name);
  }
}

void import_domains(const Graph& g, std::vector<OpsetImport>& opsets) {
  std::set<std::string, std::less<>> imported;
  for (const OpsetImport& o : opsets) imported.emplace(canonical_domain(o.domain));
  for_each_node(g, [&](const Node& n) {
    if (imported.emplace(canonical_domain(n.domain)).second)
      opsets.push_back({std::string(canonical_domain(n.domain)), 1});
  });
}

}  // namespace

void sort_functions(Model& model) {
  std::vector<Function> sorted;
  for (const size_t i : callees_first(model.functions)) sorted.push_back(std::move(model.functions[i]));
  model.functions = std::move(sorted);
}

std::vector<Value*> call_function(Graph& graph, const Function& function, const LayerArguments& inputs,
                                  const LayerArguments& outputs, LayerSpec spec) {
  const std::vector<Value*>& formal = function.body->outputs;
  require(inputs.size() <= function.body->inputs.size(), ErrorCode::kInvalidArgument,
          "the function '{}' has {} inputs, but {} are given", function.name, function.body->inputs.size(),
          inputs.size());
  require(outputs.size() <= formal.size(), ErrorCode::kInvalidArgument,
          "the function '{}' has {} outputs, but {} are given", function.name, formal.size(), outputs.size());
  check_attributes(function, spec.attributes);
  LayerArguments results = outputs;
  if (results.empty())
    for (const Value* v : formal) results.emplace_back(v->name());
  const size_t given = graph.values().size();
  spec.domain = function.domain;
  std::vector<Value*> made = layer(graph, function.name, inputs, results, std::move(spec));
  graph.nodes().back()->overload = function.overload;
  std::unordered_set<const Value*> added;
  for (size_t i = given; i < graph.values().size(); ++i) added.insert(graph.values()[i].get());
  for (size_t i = 0; i < made.size(); ++i)
    if (added.contains(made[i]) && !made[i]->is_constant()) made[i]->type = formal[i]->type;
  return made;
}

Function& add_function(Model& model, std::string name, std::string domain) {
  const auto key = [](const Function& f) {
    return fmt::format("{}\n{}\n{}", canonical_domain(f.domain), f.name, f.overload);
  };
  if (model.seen_functions_ > model.functions.size()) {  // some were removed since
    model.seen_functions_ = 0;
    model.seen_names_.clear();
  }
  for (; model.seen_functions_ < model.functions.size(); ++model.seen_functions_)
    model.seen_names_.insert(key(model.functions[model.seen_functions_]));
  Function added;
  added.name = std::move(name);
  added.domain = std::move(domain);
  // A name that was seen may have changed since.
  require(!model.seen_names_.contains(key(added)) || model.find_function(added.domain, added.name) == nullptr,
          ErrorCode::kInvalidArgument, "the model already has a function '{}' of domain '{}'", added.name,
          added.domain);
  if (model.opset(added.domain) == 0) model.opsets.push_back({added.domain, 1});
  for (const OpsetImport& o : model.opsets) added.opsets.push_back({o.domain, o.version});
  return model.functions.emplace_back(std::move(added));
}

void import_used_domains(Model& model) {
  import_domains(*model.graph, model.opsets);
  for (Function& f : model.functions) import_domains(*f.body, f.opsets);
}

void constants_to_nodes(Graph& graph) {
  const std::unordered_set<const Value*> outputs(graph.outputs.begin(), graph.outputs.end());
  std::vector<Node*> order;
  for (const auto& v : graph.values()) {
    if (!v->tensor().defined() || (v->consumers().empty() && !outputs.contains(v.get()))) continue;
    const UnalignedTensor t = v->tensor();
    v->clear_tensor();
    order.push_back(graph.add_node("Constant", {}, {v.get()}, {{"value", t}}, v->name()));
  }
  if (order.empty()) return;
  const size_t others = graph.nodes().size() - order.size();
  for (size_t i = 0; i < others; ++i) order.push_back(graph.nodes()[i].get());
  graph.reorder_nodes(order);
}

}  // namespace assay
