#include "inspect/viewer_payload.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "assay/count.h"
#include "assay/error.h"
#include "inspect/attribute_text.h"
#include "inspect/element_preview.h"
#include "inspect/model_describer.h"
#include "inspect/model_text.h"
#include "inspect/viewer_json.h"
#include "ops/multiply_accumulates.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

using NodeIds = std::vector<std::string>;

/// More elements of a list cannot be in a shortened text.
constexpr size_t kMaxListed = 140;

/// The attribute with only the beginning of a long list.
template <typename List>
bool keep_beginning(const Attribute& a, Attribute& kept) {
  const List* list = a.get_if<List>();
  if (list == nullptr || list->size() <= kMaxListed) return false;
  kept.data = List(list->begin(), list->begin() + kMaxListed);
  return true;
}

std::optional<std::string> brief_attribute_text(const Attribute& a) {
  if (!a.ref_attr_name.empty()) return fmt::format("the call's {}", a.ref_attr_name);
  if (const auto* tensor = a.get_if<UnalignedTensor>())
    return fmt::format("Tensor [{}]", tensor_details(tensor->dtype(), tensor->shape()));
  Attribute kept;
  const bool is_long = keep_beginning<std::vector<float>>(a, kept) ||
                       keep_beginning<std::vector<int64_t>>(a, kept) ||
                       keep_beginning<std::vector<std::string>>(a, kept);
  return attribute_text(a.name, (is_long ? kept : a).data, /*weights=*/false);
}

/// The costs of one run of a node; nothing where that depends on extents that are not known.
struct NodeCost {
  std::optional<int64_t> macs, weight_bytes, output_bytes;
};

std::optional<int64_t> known_bytes(const Value& v) {
  if (!v.type.is_tensor() || bit_width(v.type.dtype) == 0) return std::nullopt;
  if (v.is_constant() && v.tensor().defined())
    return static_cast<int64_t>(storage_bytes(v.tensor().dtype(), v.tensor().numel()));
  const std::optional<int64_t> elements = Count::elements(v.type.dims).number();
  if (!elements || *elements > INT64_MAX / 16) return std::nullopt;
  return static_cast<int64_t>(storage_bytes(v.type.dtype, *elements));
}

/// The sum over values; nothing where one is not known.
template <typename Values, typename Counts>
std::optional<int64_t> known_bytes_of(const Values& values, Counts counts) {
  int64_t sum = 0;
  for (const Value* v : values) {
    if (v == nullptr || !counts(*v)) continue;
    const std::optional<int64_t> bytes = known_bytes(*v);
    if (!bytes || *bytes > INT64_MAX - sum) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

class ModelPayload {
 public:
  ModelPayload(JsonWriter& json, const Model& model) : json_(json), model_(model) {
    for (size_t i = 0; i < model.functions.size(); ++i)
      functions_.emplace(key(model.functions[i].domain, model.functions[i].name, model.functions[i].overload),
                         i);
  }

  void write(std::string_view path);

 private:
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
  static FunctionKey key(std::string_view domain, std::string_view name, std::string_view overload) {
    return {canonical_domain(domain), name, overload};
  }

  /// Writes all nodes of a graph, those inside them before each; returns the graph's own.
  NodeIds graph(const Graph& g, const std::string& prefix);
  void interface(const Graph& g, const std::string& prefix, bool is_input, NodeIds& ids);
  void node(const Node& n, const std::string& id);
  /// `where`: the graph whose constants are marked and shown; null for none.
  void value(const Value* v, const Graph* where);
  void values(std::string_view name, const std::vector<Value*>& list, const Graph* where);
  void attributes(const Node& n);
  std::optional<int64_t> macs_of(const Node& n) const;
  void note_cost(const Node& n, const std::string& id);
  void write_costs();

  JsonWriter& json_;
  const Model& model_;
  std::vector<std::pair<std::string, NodeCost>> costs_;
  std::map<FunctionKey, size_t> functions_;
};

void ModelPayload::value(const Value* v, const Graph* where) {
  const bool is_own_constant = v != nullptr && v->is_constant() && &v->graph() == where;
  const bool is_tensor = v != nullptr && v->type.is_tensor();
  json_.begin_object();
  json_.key("name").value(v == nullptr ? "" : is_own_constant ? "Initializer | " + v->name() : v->name());
  json_.key("dtype");
  if (is_tensor && v->type.dtype != DType::kUndefined)
    json_.value(dtype_name(v->type.dtype));
  else if (v != nullptr && !is_tensor && v->type.kind != Type::Kind::kUnknown)
    json_.value(shortened(v->type.str()));
  else
    json_.null();
  json_.key("shape");
  write_extents(json_, is_tensor && v->type.dims ? &*v->type.dims : nullptr);
  json_.key("docstring");
  if (v == nullptr || v->doc_string.empty())
    json_.null();
  else
    json_.value(shortened(v->doc_string));
  json_.key("weight_preview");
  if (is_own_constant && v->tensor().defined())
    write_preview(json_, v->tensor());
  else
    json_.null();
  json_.end_object();
}

void ModelPayload::values(std::string_view name, const std::vector<Value*>& list, const Graph* where) {
  json_.key(name).begin_array();
  for (const Value* v : list) value(v, where);
  json_.end_array();
}

void ModelPayload::attributes(const Node& n) {
  json_.key("attrs").begin_array();
  for (const Attribute& a : n.attributes) {
    if (a.get_if<std::shared_ptr<Graph>>() != nullptr) continue;
    const std::optional<std::string> text = brief_attribute_text(a);
    if (!text) {
      warn_of_skipped(a.type_name());
      continue;
    }
    json_.begin_object();
    json_.key("key").value(a.name);
    json_.key("val").value(shortened(*text));
    json_.key("weight_preview");
    const auto* tensor = a.get_if<UnalignedTensor>();
    if (tensor != nullptr && tensor->defined())
      write_preview(json_, *tensor);
    else
      json_.null();
    json_.end_object();
  }
  json_.end_array();
}

void ModelPayload::node(const Node& n, const std::string& id) {
  std::vector<std::pair<std::string_view, NodeIds>> bodies;
  for (const Attribute& a : n.attributes)
    if (const auto* body = a.get_if<std::shared_ptr<Graph>>(); body != nullptr && *body != nullptr)
      bodies.emplace_back(a.name, graph(**body, id + "__sg_" + a.name + "__"));
  begin_viewed_node(json_, {"node", id, n.name, n.op_type});
  values("inputs", n.inputs(), &n.graph());
  values("outputs", n.outputs(), &n.graph());
  attributes(n);
  json_.key("subgraphs").begin_object();
  for (const auto& [name, ids] : bodies) {
    json_.key(name).begin_object();
    json_.key("all_node_ids").begin_array();
    for (const std::string& inner : ids) json_.value(inner);
    json_.end_array().end_object();
  }
  json_.end_object();
  json_.key("origin").null();
  json_.key("tactic").null();
  if (!canonical_domain(n.domain).empty()) json_.key("domain").value(n.domain);
  if (!n.doc_string.empty()) json_.key("docstring").value(shortened(n.doc_string));
  // The graphs of functions come after the main one.
  if (const auto called = functions_.find(key(n.domain, n.op_type, n.overload)); called != functions_.end())
    json_.key("calls").value(static_cast<int64_t>(called->second + 1));
  json_.end_object();
}

std::optional<int64_t> ModelPayload::macs_of(const Node& n) const {
  const OpDef* op = find_op(n, model_);
  if (op == nullptr) return std::nullopt;
  try {
    return multiply_accumulates(n, op).number();
  } catch (const Error&) {
    return std::nullopt;  // a node that breaks the rules of its operator is shown, too
  }
}

void ModelPayload::note_cost(const Node& n, const std::string& id) {
  NodeCost cost;
  cost.macs = macs_of(n);
  cost.weight_bytes = known_bytes_of(n.inputs(), [](const Value& v) { return v.is_constant(); });
  cost.output_bytes = known_bytes_of(n.outputs(), [](const Value&) { return true; });
  costs_.emplace_back(id, cost);
}

void ModelPayload::write_costs() {
  const auto number = [&](const std::optional<int64_t>& n) {
    if (n)
      json_.value(*n);
    else
      json_.null();
  };
  json_.key("costs").begin_object();
  for (const auto& [id, cost] : costs_) {
    json_.key(id).begin_array();
    for (const auto* n : {&cost.macs, &cost.weight_bytes, &cost.output_bytes}) number(*n);
    json_.end_array();
  }
  json_.end_object();
}

void ModelPayload::interface(const Graph& g, const std::string& prefix, bool is_input, NodeIds& ids) {
  const std::vector<Value*>& list = is_input ? g.inputs : g.outputs;
  for (size_t i = 0; i < list.size(); ++i) {
    ids.push_back(fmt::format("{}{}_{}", prefix, is_input ? "input" : "output", i));
    begin_viewed_node(json_, {is_input ? "input" : "output", ids.back(), list[i]->name(),
                              is_input ? "Graph Input" : "Graph Output"});
    values("inputs", is_input ? std::vector<Value*>() : std::vector<Value*>{list[i]}, nullptr);
    values("outputs", is_input ? std::vector<Value*>{list[i]} : std::vector<Value*>(), nullptr);
    json_.key("attrs").begin_array().end_array();
    json_.key("subgraphs").begin_object().end_object();
    json_.key("origin").null();
    json_.key("tactic").null();
    json_.end_object();
  }
}

NodeIds ModelPayload::graph(const Graph& g, const std::string& prefix) {
  NodeIds ids;
  interface(g, prefix, /*is_input=*/true, ids);
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    ids.push_back(fmt::format("{}node_{}", prefix, i));
    node(*g.nodes()[i], ids.back());
    note_cost(*g.nodes()[i], ids.back());
  }
  interface(g, prefix, /*is_input=*/false, ids);
  return ids;
}

void ModelPayload::write(std::string_view path) {
  const Graph& main = *model_.graph;
  std::vector<ViewedGraph> graphs;
  json_.begin_object();
  write_viewed_info(json_, path,
                    {model_title(describe_title(model_, {})), "onnx", main.nodes().size(), main.inputs.size(),
                     main.outputs.size()});
  json_.key("nodes").begin_object();
  graphs.push_back({main.name.empty() ? "Graph" : main.name, graph(main, "")});
  for (size_t i = 0; i < model_.functions.size(); ++i) {
    const Function& f = model_.functions[i];
    graphs.push_back({fmt::format("{}::{}{}{}", f.domain, f.name, f.overload.empty() ? "" : ":", f.overload),
                      graph(*f.body, fmt::format("function_{}__", i))});
  }
  json_.end_object();
  write_viewed_graphs(json_, graphs);
  write_costs();
  json_.end_object();
}

}  // namespace

void write_model_payload(JsonWriter& json, const Model& model, std::string_view path) {
  ModelPayload(json, model).write(path);
}

}  // namespace assay
