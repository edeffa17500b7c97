#include "plugin/replace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/log.h"
#include "base/similar_name.h"
#include "graph/order.h"
#include "passes/origins.h"

namespace assay {
namespace {

template <typename... Args>
[[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw_error(ErrorCode::kInvalidArgument, format, fmt::make_format_args(args...));
}

float narrowed(double d) {
  const auto f = static_cast<float>(d);
  if (std::isinf(f) && std::isfinite(d))
    invalid("the number {} is beyond float32, which ONNX attributes have", d);
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
      invalid("a list holds {} beside other things; ONNX has lists of integers, of numbers and of text",
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
  invalid("it is {}; an attribute is a number, text, or a list of such", value.kind());
}

AttributeList attribute_list(const YamlNode::Map& map) {
  AttributeList list;
  for (const auto& [name, value] : map)
    with_context([&, &name = name] { return fmt::format("in attribute '{}'", name); },
                 [&, &name = name, &value = value] { list.emplace_back(name, attribute_data(value)); });
  return list;
}

}  // namespace

/// The nodes on the way from the inputs to the outputs.
struct PluginReplacer::Region {
  std::vector<Node*> nodes;                ///< producers before consumers
  std::vector<const Value*> other_inputs;  ///< inputs of the graph that the outputs depend on too
};

PluginReplacer::PluginReplacer(Model& model) : model_(model), graph_(*model.graph) {
  for (const auto& n : graph_.nodes()) node_names_.insert(n->name);
}

std::vector<Value*> PluginReplacer::find_values(const std::vector<std::string>& names,
                                                const char* what) const {
  std::vector<Value*> values;
  for (const std::string& name : names) {
    Value* v = graph_.find_value(name);
    if (v == nullptr) {
      Error e(ErrorCode::kNotFound,
              fmt::format("the model has no tensor '{}', which is to be an {}", name, what));
      for (const auto& other : graph_.values())
        if (is_similar_name(name, other->name())) {
          e.set_remedy(fmt::format("A similar name is '{}'.", other->name()));
          break;
        }
      throw e;
    }
    values.push_back(v);
  }
  return values;
}

void PluginReplacer::check_outputs(const std::vector<Value*>& inputs,
                                   const std::vector<Value*>& outputs) const {
  if (outputs.empty()) invalid("an instance needs an output");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value* v = outputs[i];
    if (std::find(inputs.begin(), inputs.end(), v) != inputs.end())
      invalid("the tensor '{}' is to be an input and an output", v->name());
    if (std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i), v) !=
        outputs.begin() + static_cast<std::ptrdiff_t>(i))
      invalid("the tensor '{}' is to be an output twice", v->name());
    if (v->producer() == nullptr)
      invalid("the tensor '{}' is to be an output, but no node computes it", v->name());
  }
}

PluginReplacer::Region PluginReplacer::find_region(const std::vector<Value*>& inputs,
                                                   const std::vector<Value*>& outputs) const {
  struct Visit {
    Node* node;
    std::vector<Value*> used;
    size_t next = 0;
    bool from_inputs = false;
  };
  const std::unordered_set<const Value*> borders(inputs.begin(), inputs.end());
  std::unordered_map<const Node*, bool> seen;  // with whether the node depends on the inputs
  std::unordered_set<const Value*> others;
  Region region;
  std::vector<Visit> stack;
  const auto enter = [&](Node* n) {
    seen.emplace(n, false);
    stack.push_back({n, used_values(*n)});
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
        region.nodes.push_back(node);
        if (!stack.empty()) stack.back().from_inputs = true;
        continue;
      }
      Value* v = top.used[top.next++];
      Node* producer = v->producer();
      if (borders.contains(v))
        top.from_inputs = true;
      else if (producer == nullptr && !v->is_constant() && others.insert(v).second)
        region.other_inputs.push_back(v);
      else if (producer != nullptr && seen.contains(producer))
        top.from_inputs = top.from_inputs || seen[producer];
      else if (producer != nullptr)
        enter(producer);
    }
  }
  return region;
}

std::string PluginReplacer::node_name(const std::string& plugin) {
  for (;;) {
    std::string name = fmt::format("{}_{}", plugin, counts_[plugin]++);
    if (node_names_.insert(name).second) return name;
  }
}

std::string PluginReplacer::replace(const PluginMatches& plugin, const PluginInstance& instance) {
  const std::vector<Value*> inputs = find_values(instance.inputs, "input");
  const std::vector<Value*> outputs = find_values(instance.outputs, "output");
  for (const Value* v : outputs)
    if (v->producer() != nullptr && inserted_.contains(v->producer()))
      return fmt::format("'{}' is computed by {} already", v->name(), v->producer()->label());
  check_outputs(inputs, outputs);
  AttributeList attributes = attribute_list(instance.attributes);
  const Region region = find_region(inputs, outputs);
  for (const Node* n : region.nodes) {
    if (inserted_.contains(n)) return fmt::format("{} stands inside it already", n->label());
    if (const auto it = replaced_.find(n); it != replaced_.end())
      return fmt::format("it shares {} with {}", n->label(), it->second);
  }
  for (const Value* v : outputs)
    if (std::find(region.nodes.begin(), region.nodes.end(), v->producer()) == region.nodes.end())
      invalid("the output '{}' does not depend on the inputs", v->name());
  for (const Value* v : region.other_inputs)
    log::warning("The outputs of {} depend on '{}' too, which is not among its inputs.", plugin.name,
                 v->name());

  const Node* last = region.nodes.back();
  for (Value* v : outputs) {
    Node* producer = v->producer();
    std::vector<Value*> slots = producer->outputs();
    std::replace(slots.begin(), slots.end(), v, static_cast<Value*>(nullptr));
    producer->set_outputs(std::move(slots));
  }
  Node* node = graph_.insert_node(last, plugin.op, inputs, outputs, std::move(attributes),
                                  node_name(plugin.name), plugin.domain);
  std::vector<std::string> origins;
  for (const Node* n : region.nodes) {
    if (n->op_type != "Constant") replaced_.emplace(n, node->label());
    for (std::string& name : origins_of(*n)) origins.push_back(std::move(name));
  }
  set_origins(*node, origins);
  inserted_.insert(node);
  return {};
}

void PluginReplacer::finish() {
  for (const Node* n : inserted_)
    if (!n->domain.empty() && model_.opset(n->domain) == 0) model_.opsets.push_back({n->domain, 1});
  cleanup(graph_);
  sort_topologically(graph_);
}

}  // namespace assay
