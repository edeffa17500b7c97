#include "plugin/replace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/similar_name.h"
#include "graph/order.h"
#include "naming/origins.h"

namespace assay {
namespace {

float narrowed(double d) {
  const auto f = static_cast<float>(d);
  if (std::isinf(f) && std::isfinite(d))
    fail(ErrorCode::kInvalidArgument, "the number {} is beyond float32, which ONNX attributes have", d);
  return f;
}

/// Items of a list that are all of type T; nothing when one is not.
template <typename T>
std::vector<T> all_of_type(const YamlNode::List& list) {
  std::vector<T> out;
  for (const YamlNode& n : list)
    if (const T* item = n.get_if<T>()) out.push_back(*item);
  if (out.size() != list.size()) out.clear();
  return out;
}

Attribute::Data list_data(const YamlNode::List& list) {
  if (list.empty()) return std::vector<int64_t>();
  if (auto texts = all_of_type<std::string>(list); !texts.empty()) return texts;
  std::vector<int64_t> integers;
  std::vector<float> numbers;
  for (const YamlNode& n : list) {
    if (const auto* i = n.get_if<int64_t>()) {
      integers.push_back(*i);
      numbers.push_back(narrowed(static_cast<double>(*i)));
    } else if (const auto* b = n.get_if<bool>()) {
      integers.push_back(*b ? 1 : 0);
      numbers.push_back(*b ? 1 : 0);
    } else if (const auto* d = n.get_if<double>()) {
      numbers.push_back(narrowed(*d));
    } else {
      fail(ErrorCode::kInvalidArgument,
           "a list holds {} among other things; ONNX has lists of integers, of numbers and of text",
           n.kind());
    }
  }
  if (integers.size() == list.size()) return integers;
  return numbers;
}

Attribute::Data attribute_data(const YamlNode& value) {
  if (const auto* b = value.get_if<bool>()) return int64_t{*b ? 1 : 0};
  if (const auto* i = value.get_if<int64_t>()) return *i;
  if (const auto* d = value.get_if<double>()) return narrowed(*d);
  if (const auto* s = value.get_if<std::string>()) return *s;
  if (const auto* list = value.get_if<YamlNode::List>()) return list_data(*list);
  fail(ErrorCode::kInvalidArgument, "it is {}; an attribute is a number, text, or a list of such",
       value.kind());
}

AttributeList attribute_list(const YamlNode::Map& map) {
  AttributeList list;
  for (const auto& [name, value] : map)
    with_context([&, &name = name] { return fmt::format("in attribute '{}'", name); },
                 [&, &name = name, &value = value] { list.emplace_back(name, attribute_data(value)); });
  return list;
}

/// The name of a graph in errors.
std::string graph_name(const GraphPlace& place) {
  return place.path.empty() ? "the model" : fmt::format("the graph {}", place.path);
}

std::vector<Value*> find_values(const GraphPlace& place, const std::vector<std::string>& names,
                                const char* what) {
  std::vector<Value*> values;
  for (const std::string& name : names) {
    values.push_back(place.graph->lookup(name));
    if (values.back() != nullptr) continue;
    std::vector<std::string_view> candidates;
    for (const Graph* g = place.graph; g != nullptr; g = g->parent())
      for (const auto& v : g->values()) candidates.push_back(v->name());
    Error e(ErrorCode::kNotFound,
            fmt::format("{} has no tensor '{}', which is to be an {}", graph_name(place), name, what));
    throw e.set_remedy(name_hint(name, candidates));
  }
  return values;
}

void check_outputs(const GraphPlace& place, const std::vector<Value*>& inputs,
                   const std::vector<Value*>& outputs) {
  if (outputs.empty()) fail(ErrorCode::kInvalidArgument, "an instance needs an output");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value* v = outputs[i];
    if (std::find(inputs.begin(), inputs.end(), v) != inputs.end())
      fail(ErrorCode::kInvalidArgument, "the tensor '{}' is to be an input and an output", v->name());
    if (std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i), v) !=
        outputs.begin() + static_cast<std::ptrdiff_t>(i))
      fail(ErrorCode::kInvalidArgument, "the tensor '{}' is to be an output twice", v->name());
    if (&v->graph() != place.graph)
      fail(ErrorCode::kInvalidArgument,
           "the tensor '{}' is to be an output, but it is outside of {}, which can only use it", v->name(),
           graph_name(place));
    if (v->producer() == nullptr)
      fail(ErrorCode::kInvalidArgument, "the tensor '{}' is to be an output, but no node computes it",
           v->name());
  }
}

/// True when a subgraph depends on an outer value that varies between runs.
bool is_variable(const Value& v) {
  return !v.is_constant() && (v.producer() == nullptr || v.producer()->op_type != "Constant");
}

void import_domain(const std::string& domain, std::vector<OpsetImport>& opsets) {
  const bool is_known =
      std::any_of(opsets.begin(), opsets.end(), [&](const auto& o) { return o.domain == domain; });
  if (!domain.empty() && !is_known) opsets.push_back({domain, 1});
}

}  // namespace

/// The nodes of one graph on the way from the inputs to the outputs.
struct PluginReplacer::Region {
  std::vector<Node*> nodes;  ///< producers before consumers
  std::vector<const Value*>
      other_inputs;  ///< inputs of the graph, or values around it, that the outputs depend on too

  Region(const Graph& graph, const std::vector<Value*>& inputs, const std::vector<Value*>& outputs) {
    struct Visit {
      Node* node;
      std::vector<Value*> used;
      size_t next = 0;
      bool from_inputs = false;
    };
    const std::unordered_set<const Value*> borders(inputs.begin(), inputs.end());
    std::unordered_map<const Node*, bool> seen;  // with whether the node depends on the inputs
    std::unordered_set<const Value*> others;
    std::vector<Visit> stack;
    const auto enter = [&](Node* n) {
      seen.emplace(n, false);
      stack.push_back({n, all_used_values(*n)});
    };
    for (const Value* output : outputs) {
      if (!seen.contains(output->producer())) enter(output->producer());
      while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.next == top.used.size()) {
          const auto [node, from_inputs] = std::pair(top.node, top.from_inputs);
          stack.pop_back();
          seen[node] = from_inputs;
          if (!from_inputs) continue;
          nodes.push_back(node);
          if (!stack.empty()) stack.back().from_inputs = true;
          continue;
        }
        Value* v = top.used[top.next++];
        Node* producer = &v->graph() == &graph ? v->producer() : nullptr;
        if (borders.contains(v))
          top.from_inputs = true;
        else if (producer == nullptr && is_variable(*v) && others.insert(v).second)
          other_inputs.push_back(v);
        else if (producer != nullptr && seen.contains(producer))
          top.from_inputs = top.from_inputs || seen[producer];
        else if (producer != nullptr)
          enter(producer);
      }
    }
  }
};

PluginReplacer::PluginReplacer(Model& model) : model_(model), paths_(model) {
  for (GraphPlace& place : graph_places(model)) {
    for (const auto& n : place.graph->nodes()) node_names_.insert(n->name);
    const Graph* g = place.graph;
    places_.emplace(g, std::move(place));
  }
}

const GraphPlace& PluginReplacer::find_place(const std::string& path) {
  return places_.at(paths_.graph(path));
}

std::string PluginReplacer::node_name(const std::string& plugin) {
  for (;;) {
    std::string name = fmt::format("{}_{}", plugin, counts_[plugin]++);
    if (node_names_.insert(name).second) return name;
  }
}

std::string PluginReplacer::find_overlap(const GraphPlace& place, const std::vector<Value*>& outputs) const {
  for (const Node* n : place.holders)
    if (const auto it = replaced_.find(n); it != replaced_.end())
      return fmt::format("it lies inside {}, which {} replaces", n->label(), it->second);
  for (const Value* v : outputs)
    if (v->producer() != nullptr && inserted_.contains(v->producer()))
      return fmt::format("'{}' is computed by {} already", v->name(), v->producer()->label());
  return {};
}

std::string PluginReplacer::find_overlap(const Region& region) const {
  for (const Node* n : region.nodes) {
    if (inserted_.contains(n)) return fmt::format("{} stands inside it already", n->label());
    if (const auto it = holders_.find(n); it != holders_.end())
      return fmt::format("{} stands inside it already", it->second->label());
    if (const auto it = replaced_.find(n); it != replaced_.end())
      return fmt::format("it shares {} with {}", n->label(), it->second);
  }
  return {};
}

std::string PluginReplacer::replace(const PluginMatches& plugin, const PluginInstance& instance) {
  const GraphPlace& place = find_place(instance.graph);
  const std::vector<Value*> inputs = find_values(place, instance.inputs, "input");
  const std::vector<Value*> outputs = find_values(place, instance.outputs, "output");
  if (std::string reason = find_overlap(place, outputs); !reason.empty()) return reason;
  check_outputs(place, inputs, outputs);
  AttributeList attributes = attribute_list(instance.attributes);
  const Region region(*place.graph, inputs, outputs);
  if (std::string reason = find_overlap(region); !reason.empty()) return reason;
  for (const Value* v : outputs)
    if (std::find(region.nodes.begin(), region.nodes.end(), v->producer()) == region.nodes.end())
      fail(ErrorCode::kInvalidArgument, "the output '{}' does not depend on the inputs", v->name());
  for (const Value* v : region.other_inputs)
    diag::warning("The outputs of {} depend on '{}' too, which is not among its inputs.", plugin.name,
                  v->name());

  const Node* last = region.nodes.back();
  for (Value* v : outputs) detach_from_producer(*v);
  NodeOrder& order = orders_.try_emplace(place.graph, *place.graph).first->second;
  Node* node = place.graph->add_node(plugin.op, inputs, outputs, std::move(attributes),
                                     node_name(plugin.name), plugin.domain);
  order.insert(last, *node);
  Origins origins;
  for (const Node* n : region.nodes) {
    if (n->op_type != "Constant") replaced_.emplace(n, node->label());
    origins.add(origins_of(*n));
  }
  set_origins(*node, origins.names());
  inserted_.insert(node);
  inserted_in_.emplace_back(node, &place);
  for (const Node* n : place.holders) holders_.emplace(n, node);
  return {};
}

void PluginReplacer::finish() {
  for (auto& [graph, order] : orders_) order.commit();
  std::unordered_set<const Graph*> changed{model_.graph.get()};
  std::unordered_map<const Function*, std::set<std::string>> domains;  // of new nodes
  for (const auto& [n, place] : inserted_in_) {
    for (const Graph* g = place->graph; g != nullptr; g = g->parent()) changed.insert(g);
    domains[place->function].insert(n->domain);
  }
  for (const std::string& domain : domains[nullptr]) import_domain(domain, model_.opsets);
  for (Function& f : model_.functions)
    if (const auto it = domains.find(&f); it != domains.end())
      for (const std::string& domain : it->second) import_domain(domain, f.opsets);
  const auto finish_tree = [&](Graph& root) {
    if (!changed.contains(&root)) return;
    cleanup(root);
    for (Graph* g : subgraphs(root, /*recursive=*/true))
      if (changed.contains(g)) sort_topologically(*g);
    sort_topologically(root);
  };
  finish_tree(*model_.graph);
  for (Function& f : model_.functions) finish_tree(*f.body);
}

}  // namespace assay
