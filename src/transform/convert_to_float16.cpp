#include "transform/convert_to_float16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/match.h"
#include "assay/edit.h"
#include "assay/error.h"
#include "base/diagnostics.h"
#include "graph/distinct_names.h"
#include "graph/function_index.h"
#include "graph/node_order.h"
#include "graph/read.h"
#include "graph/uses.h"
#include "ops/infer.h"
#include "ops/node_facts.h"
#include "ops/op_set.h"
#include "ops/schema.h"
#include "ops/value_type.h"
#include "tensor/convert.h"
#include "transform/float16_range.h"

namespace assay {
namespace {

constexpr auto kFloat = static_cast<int64_t>(DType::kFloat32);
constexpr auto kHalf = static_cast<int64_t>(DType::kFloat16);
/// Attributes that name an output's element type.
constexpr const char* kTypeAttributes[] = {"to", "dtype", "output_datatype", "output_dtype"};

bool is_float32(const Type& type) { return type.is_tensor() && type.dtype == DType::kFloat32; }

/// The type with float32 replaced, also inside sequences and optionals.
Type halved(const Type& type) {
  Type result = type;
  if (result.is_tensor() && result.dtype == DType::kFloat32) result.dtype = DType::kFloat16;
  if (result.element != nullptr) result.element = std::make_shared<const Type>(halved(*result.element));
  return result;
}

class Converter {
 public:
  explicit Converter(Model& model) : model_(model), functions_(model), names_(model) {}

  void run() {
    // Failures of inference show below, as a tensor without type.
    infer_shapes(model_, {.on_problem = [](const Node&, const std::string&) {}});
    require_known_types(*model_.graph);
    clamp_functions();
    hold_statistics(*model_.graph);
    std::vector<Value*> outputs = model_.graph->outputs;
    std::erase_if(outputs, [](const Value* v) { return !is_float32(v->type); });
    convert_graph(*model_.graph);
    for (auto& [graph, order] : orders_) order.commit();
    restore_interface(outputs);
    adopt_names();
    names_.settle(model_);
    report();
  }

 private:
  /// Null for values that keep float32.
  const Schema* schema_for(const Node& node) const {
    if (functions_.called(node) != nullptr || needs_float32(node)) return nullptr;
    const OpDef* op = ops_of(model_).find(node.domain, node.op_type);
    const OpVersion* version = op == nullptr ? nullptr : version_for(*op, model_.opset(node.domain));
    return version == nullptr ? nullptr : &schema_of(*version);
  }
  static bool allows_half(const Schema* schema, const Parameter* parameter) {
    if (schema == nullptr || parameter == nullptr) return false;
    const std::vector<std::string> types = schema->allowed_types(*parameter);
    return std::find(types.begin(), types.end(), "float16") != types.end();
  }

  void require_known_types(const Graph& graph) const;
  void convert_graph(Graph& graph);
  void convert_node(Graph& graph, Node& node, Node* next);
  /// Sets attributes that decide the outputs' type. False when the node always returns float32.
  bool set_output_type(Node& node, const Schema& schema);
  bool halve_value(Node& constant);
  /// The numbers in float16, what it cannot hold replaced by the nearest that it can; `what` holds them.
  Tensor half_of(Tensor values, const std::string& what);
  /// Float attributes that become elements: the padding value of a Pad, the bounds of a Clip.
  void clamp_attributes(Node& node);
  /// Numbers that a Cast converts to floats.
  void clamp_cast_constant(Graph& graph, Node& node);
  /// Calls of local functions stay in float32, but their results do not.
  void clamp_functions();
  void clamp_sentinels(Graph& body);
  /// Inserts a Cast before a node; null: at the end.
  void add_cast(const Node* next, Value* from, Value* to, int64_t type, const std::string& name);
  NodeOrder& order_of(Graph& graph) { return orders_.try_emplace(&graph, graph).first->second; }
  Value* as_half(Value* value);
  Value* as_float(Graph& graph, Node& user, Value* value);
  Value* half_constant(Value* constant);
  void restore_interface(const std::vector<Value*>& outputs);
  void adopt_names();
  void report() const;

  Model& model_;
  const FunctionIndex functions_;
  DistinctNames names_;
  std::unordered_map<Graph*, NodeOrder> orders_;  ///< of graphs that get nodes
  std::unordered_map<Value*, Value*> half_of_;    ///< of float32 constants and model inputs
  std::unordered_map<Value*, Value*> float_of_;   ///< of values that are now float16
  /// Changed numbers by their holder: how many, and an example.
  struct Changed {
    int64_t count = 0;
    std::vector<std::string> places;
    void add(int64_t n, float example, const std::string& what) {
      count += n;
      places.push_back(fmt::format("{} ({:.8g})", what, example));
    }
    std::string text() const;
  };
  Changed clipped_, raised_;
};

void Converter::require_known_types(const Graph& graph) const {
  for (const Value* input : graph.inputs)
    require(graph.parent() != nullptr || input->type.element == nullptr, ErrorCode::kUnsupported,
            "input '{}' is of type {}, and only tensors can be converted to float16", input->name(),
            input->type.str());
  for (const Value* output : graph.outputs)
    require(
        graph.parent() != nullptr || output->type.is_tensor() || leaf_dtype(output->type) != DType::kFloat32,
        ErrorCode::kUnsupported, "output '{}' is of type {}, which the conversion to float16 would change",
        output->name(), output->type.str());
  for (const auto& v : graph.values())
    require(v->type.kind != Type::Kind::kUnknown || v->consumers().empty(), ErrorCode::kUnsupported,
            "the type of '{}' is not known, so the model cannot be converted to float16", v->name());
  for (const auto& node : graph.nodes())
    for (const Attribute& a : node->attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) require_known_types(**g);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& g : *list) require_known_types(*g);
    }
}

/// The first few, and the number of others.
std::string Converter::Changed::text() const {
  constexpr size_t kFew = 8;
  std::string text;
  for (size_t i = 0; i < std::min(places.size(), kFew); ++i) text += (i > 0 ? ", " : "") + places[i];
  return places.size() > kFew ? text + fmt::format(" and {} more", places.size() - kFew) : text;
}

Tensor Converter::half_of(Tensor values, const std::string& what) {
  const auto is_large = [](float v) { return std::abs(v) > kLargestHalf && !std::isinf(v); };
  const auto is_small = [](float v) { return std::abs(v) > 0 && std::abs(v) < kSmallestHalf / 2; };
  const auto replace = [&](const auto& is_one, float by, Changed& changed) {
    const auto numbers = std::as_const(values).span<float>();
    const auto count = std::count_if(numbers.begin(), numbers.end(), is_one);
    if (count == 0) return;
    changed.add(count, *std::find_if(numbers.begin(), numbers.end(), is_one), what);
    for (float& v : values.mutable_span<float>())
      if (is_one(v)) v = std::copysign(by, v);
  };
  replace(is_large, kLargestHalf, clipped_);
  replace(is_small, kSmallestHalf, raised_);
  return convert(values, DType::kFloat16);
}

Value* Converter::half_constant(Value* constant) {
  const Node* user = constant->consumers().empty() ? nullptr : constant->consumers().front();
  const std::string what = user == nullptr ? fmt::format("'{}'", constant->name())
                                           : fmt::format("'{}' of {}", constant->name(), user->label());
  Graph& graph = constant->graph();
  Value* half = graph.add_constant(graph.unique_name(constant->name() + "_float16"),
                                   half_of(constant->tensor().aligned(), what));
  half->is_overridable = constant->is_overridable;
  return half;
}

void Converter::clamp_attributes(Node& node) {
  const auto& elements = facts_of(node, model_).element_attributes;
  for (Attribute& a : node.attributes) {
    const float* given = a.get_if<float>();
    if (given == nullptr || std::find(elements.begin(), elements.end(), a.name) == elements.end()) continue;
    if (std::abs(*given) <= kLargestHalf || !std::isfinite(*given)) continue;
    clipped_.add(1, *given, fmt::format("{} of {}", a.name, node.label()));
    a.data = std::copysign(kLargestHalf, *given);
  }
}

void Converter::clamp_cast_constant(Graph& graph, Node& node) {
  if (!is_op(node, "Cast") || int_attribute(node, "to", 0) != kFloat) return;
  const UnalignedTensor* data = data_of(node.input(0));
  if (data == nullptr || data->dtype() == DType::kString || data->dtype() == DType::kFloat32) return;
  const Tensor values = convert(data->aligned(), DType::kFloat32, /*saturate=*/false);
  const auto numbers = values.span<float>();
  if (std::none_of(numbers.begin(), numbers.end(),
                   [](float v) { return std::abs(v) > kLargestHalf && !std::isinf(v); }))
    return;
  node.set_input(
      0, graph.add_constant(graph.unique_name(node.input(0)->name() + "_float16"),
                            half_of(values, fmt::format("'{}' of {}", node.input(0)->name(), node.label()))));
}

void Converter::clamp_functions() {
  for (Function& f : model_.functions) {
    clamp_sentinels(*f.body);
    for (Graph* sub : subgraphs(*f.body, /*recursive=*/true)) clamp_sentinels(*sub);
  }
}

/// Numbers that represent infinity, as in masks, which become infinite in float16 arithmetic. Others may be
/// divided again before they leave the function.
void Converter::clamp_sentinels(Graph& body) {
  constexpr float kSentinel = 0x1p100F;
  const auto is_one = [](float v) { return std::abs(v) >= kSentinel && std::isfinite(v); };
  const auto clamp = [&](float& v, const Node& n) {
    if (!is_one(v)) return;
    clipped_.add(1, v, fmt::format("a constant of {} in a function", n.label()));
    v = std::copysign(kLargestHalf, v);
  };
  for (const auto& n : body.nodes()) {
    if (!is_op(*n, "Constant") && !is_op(*n, "ConstantOfShape")) {
      clamp_attributes(*n);
      continue;
    }
    for (Attribute& a : n->attributes) {
      if (auto* v = std::get_if<float>(&a.data)) clamp(*v, *n);
      if (auto* list = std::get_if<std::vector<float>>(&a.data))
        for (float& v : *list) clamp(v, *n);
      const auto* t = a.get_if<UnalignedTensor>();
      if (t == nullptr || t->dtype() != DType::kFloat32) continue;
      Tensor values = t->aligned();
      const auto numbers = values.span<float>();
      if (std::none_of(numbers.begin(), numbers.end(), is_one)) continue;
      for (float& v : values.mutable_span<float>()) clamp(v, *n);
      n->set_attribute(std::string(a.name), UnalignedTensor(values));
      break;  // the list of attributes has changed
    }
  }
}

void Converter::add_cast(const Node* next, Value* from, Value* to, int64_t type, const std::string& name) {
  NodeOrder& order = order_of(to->graph());
  order.insert(next, *to->graph().add_node("Cast", {from}, {to}, {{"to", type}}, name + "_cast"));
}

/// The float16 form of a value that a node reads.
Value* Converter::as_half(Value* value) {
  if (!is_float32(value->type)) return value;
  if (const auto it = half_of_.find(value); it != half_of_.end()) return it->second;
  Value* half = nullptr;
  if (value->is_constant()) {
    require(value->tensor().defined(), ErrorCode::kUnsupported,
            "the data of '{}' were not loaded, so they cannot be converted to float16", value->name());
    half = half_constant(value);
  } else {  // an input of the model
    Graph& graph = value->graph();
    half = graph.add_value(graph.unique_name(value->name() + "_float16"), halved(value->type));
    add_cast(order_of(graph).first(), value, half, kHalf, half->name());
    float_of_.emplace(half, value);
  }
  half_of_.emplace(value, half);
  return half;
}

/// The float32 form of a value for a node that has no float16.
Value* Converter::as_float(Graph& graph, Node& user, Value* value) {
  if (!value->type.is_tensor() || value->type.dtype != DType::kFloat16) return value;
  const auto it = float_of_.find(value);
  if (it != float_of_.end() && &it->second->graph() == &graph) return it->second;
  Type type = value->type;
  type.dtype = DType::kFloat32;
  Value* wide = graph.add_value(graph.unique_name(value->name() + "_float32"), type);
  add_cast(&user, value, wide, kFloat, wide->name());
  float_of_[value] = wide;
  return wide;
}

/// float32 becomes float16 where an attribute says an output's type, or says it by its absence.
void halve_type_attributes(Node& node, const Schema& schema) {
  for (const char* name : kTypeAttributes) {
    const AttributeDef* def = schema.attribute(name);
    if (def == nullptr) continue;
    const Attribute* given = node.find_attribute(name);
    const int64_t* type = given != nullptr ? given->get_if<int64_t>()
                          : def->fallback  ? std::get_if<int64_t>(&*def->fallback)
                                           : nullptr;
    if (type != nullptr && *type == kFloat) node.set_attribute(name, kHalf);
  }
  if (node.op_type == "SequenceEmpty" && node.find_attribute("dtype") == nullptr)
    node.set_attribute("dtype", kHalf);
  if (node.op_type == "ConstantOfShape" && node.find_attribute("value") == nullptr)
    node.set_attribute("value", Tensor::zeros(DType::kFloat16, Shape{1}));
}

/// The elements that an attribute of a Constant says; nothing for those that are neither floats nor dense.
std::optional<Tensor> dense_value(const Attribute& a) {
  if (const auto* t = a.get_if<UnalignedTensor>()) return t->aligned();
  if (const auto* f = a.get_if<float>()) return Tensor::scalar(*f);
  if (const auto* list = a.get_if<std::vector<float>>()) return Tensor::vector(*list);
  return std::nullopt;
}

/// The value of a Constant or ConstantOfShape; false when it is none that could be float16.
bool Converter::halve_value(Node& node) {
  if (node.attributes.empty()) return false;
  const Attribute& a = node.attributes.front();
  if (const auto* sparse = a.get_if<Attribute::Sparse>()) {
    if (sparse->values.dtype() != DType::kFloat32) return true;
    Attribute::Sparse half = *sparse;
    half.values = half_of(half.values, node.label());
    node.remove_attribute(std::string(a.name));
    node.set_attribute("sparse_value", std::move(half));
    return true;
  }
  const std::optional<Tensor> value = dense_value(a);
  if (!value) return false;
  if (value->dtype() != DType::kFloat32) return true;
  node.remove_attribute(std::string(a.name));
  node.set_attribute("value", half_of(*value, node.label()));
  return true;
}

bool Converter::set_output_type(Node& node, const Schema& schema) {
  halve_type_attributes(node, schema);
  const bool holds_value = node.op_type == "Constant" || node.op_type == "ConstantOfShape";
  return !holds_value || halve_value(node);
}

void Converter::convert_node(Graph& graph, Node& node, Node* next) {
  const Schema* schema = schema_for(node);
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* value = node.input(i);
    if (value == nullptr) continue;
    const bool half = allows_half(schema, schema == nullptr ? nullptr : schema->input(i));
    if (is_float32(value->type) && half)
      node.set_input(i, as_half(value));
    else if (!half)
      node.set_input(i, as_float(graph, node, value));
  }
  bool gives_half = schema != nullptr;
  for (size_t i = 0; i < node.outputs().size() && gives_half; ++i)
    gives_half = node.output(i) == nullptr || !is_float32(node.output(i)->type) ||
                 allows_half(schema, schema->output(i));
  clamp_cast_constant(graph, node);
  if (gives_half) gives_half = set_output_type(node, *schema);
  if (gives_half) clamp_attributes(node);

  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* value = node.output(i);
    if (value == nullptr) continue;
    const bool slot_is_half =
        gives_half || allows_half(schema, schema == nullptr ? nullptr : schema->output(i));
    if (is_float32(value->type) && !slot_is_half) {
      Value* wide = graph.add_value(graph.unique_name(value->name() + "_float32"), value->type);
      node.set_output(i, wide);
      add_cast(next, wide, value, kHalf, wide->name());
    }
    value->type = halved(value->type);
  }
}

void Converter::convert_graph(Graph& graph) {
  if (graph.parent() != nullptr)
    for (Value* input : graph.inputs) input->type = halved(input->type);
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (Attribute& a : nodes[i]->attributes) {
      if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) convert_graph(**g);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& g : *list) convert_graph(*g);
    }
    convert_node(graph, *nodes[i], i + 1 < nodes.size() ? nodes[i + 1] : nullptr);
  }
  if (graph.parent() == nullptr) return;
  for (Value*& output : graph.outputs) output = as_half(output);
}

/// Restores the name and type of the model's float32 outputs by a Cast at the end.
void Converter::restore_interface(const std::vector<Value*>& outputs) {
  Graph& graph = *model_.graph;
  for (Value* output : outputs) {
    Node* producer = output->producer();
    if (producer == nullptr || is_float32(output->type)) continue;  // an input, a constant, or done already
    Value* half = graph.add_value(graph.unique_name(output->name() + "_float16"), output->type);
    for (size_t i = 0; i < producer->outputs().size(); ++i)
      if (producer->output(i) == output) producer->set_output(i, half);
    replace_inputs(*output, half);
    output->type.dtype = DType::kFloat32;
    graph.add_node("Cast", {half}, {output}, {{"to", kFloat}}, output->name() + "_cast");
  }
}

/// A float16 constant takes the name of the float32 one that is not needed any more.
void Converter::adopt_names() {
  std::unordered_set<Graph*> changed;
  OutputIndex outputs;
  for (const auto& [constant, half] : half_of_) {
    if (!constant->is_constant() || !constant->consumers().empty()) continue;
    if (outputs.contains(*constant)) continue;
    Graph& graph = constant->graph();
    const std::string name = constant->name();
    constant->rename(graph.unique_name(name + "_unused"));
    half->rename(name);
    changed.insert(&graph);
  }
  for (Graph* graph : changed) graph->remove_unused_values();
}

void Converter::report() const {
  if (clipped_.count > 0)
    diag::warning("{} weight(s) are beyond float16's range and became its largest number, {}: {}.",
                  clipped_.count, kLargestHalf, clipped_.text());
  if (raised_.count > 0)
    diag::warning("{} weight(s) are too small for float16 and became its smallest number, {}: {}.",
                  raised_.count, kSmallestHalf, raised_.text());
}

}  // namespace

void convert_to_float16(Model& model) { Converter(model).run(); }

}  // namespace assay
