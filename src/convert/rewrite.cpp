#include "convert/rewrite.h"

#include <algorithm>

#include "tensor/convert.h"

namespace assay {
namespace {

template <typename T>
const T& typed(const Attribute& a) {
  const T* value = a.get_if<T>();
  require(value != nullptr, ErrorCode::kInvalidModel, "the attribute '{}' is of the wrong kind {}", a.name,
          a.type_name());
  return *value;
}

}  // namespace

bool Rewrite::is_used(size_t i) const {
  const Value* v = output(i);
  return v != nullptr && (!v->consumers().empty() || sink_.outputs().contains(*v));
}

const Attribute* Rewrite::find(std::string_view name) const {
  const Attribute* a = node_.find_attribute(name);
  if (a != nullptr && !a->ref_attr_name.empty())
    no_equivalent("the attribute '{}' is whatever a call of the function gives", name);
  return a;
}

int64_t Rewrite::get_int(std::string_view name, int64_t fallback) const {
  const Attribute* a = find(name);
  return a != nullptr ? typed<int64_t>(*a) : fallback;
}

double Rewrite::get_float(std::string_view name, double fallback) const {
  const Attribute* a = find(name);
  return a != nullptr ? typed<float>(*a) : fallback;
}

std::string Rewrite::get_string(std::string_view name, std::string_view fallback) const {
  const Attribute* a = find(name);
  return a != nullptr ? typed<std::string>(*a) : std::string(fallback);
}

std::vector<int64_t> Rewrite::get_ints(std::string_view name) const {
  const Attribute* a = find(name);
  return a != nullptr ? typed<std::vector<int64_t>>(*a) : std::vector<int64_t>{};
}

void Rewrite::rename_attribute(std::string_view from, std::string_view to) {
  for (Attribute& a : node_.attributes)
    if (a.name == from) a.name = to;
}

int Rewrite::rank(size_t i) const {
  const int rank = rank_of(input(i));
  if (rank < 0) no_equivalent("the rank of input {} is not known", i);
  return rank;
}

Shape Rewrite::shape(size_t i) const {
  const std::optional<Shape> shape = shape_of(input(i));
  if (!shape) no_equivalent("the shape of input {} is not known", i);
  return *shape;
}

DType Rewrite::dtype(size_t i) const {
  const DType dtype = dtype_of(input(i));
  if (dtype == DType::kUndefined) no_equivalent("the element type of input {} is not known", i);
  return dtype;
}

int64_t listable(const Shape& shape, std::string_view what) {
  int64_t n = 1;
  for (const int64_t d : shape) n = listable(n * listable(d, what), what);
  return n;
}

int64_t Rewrite::front_axis(int64_t axis, size_t i) const { return axis < 0 ? axis + rank(i) : axis; }

Tensor Rewrite::constant_input(size_t i, std::string_view name) const {
  const std::optional<Tensor> t = constant_value(input(i));
  if (!t) no_equivalent("the input '{}' is not constant", name);
  return *t;
}

std::vector<int64_t> Rewrite::constant_ints(size_t i, std::string_view name) const {
  const Tensor t = constant_input(i, name);
  if (!is_integer(t.dtype())) return convert(t, DType::kInt64).to_int64();
  return t.to_int64();
}

std::string Rewrite::value_name(std::string_view hint) const {
  std::string base = node_.name;
  for (const Value* v : node_.outputs())
    if (base.empty() && v != nullptr) base = v->name();
  if (base.empty()) base = node_.op_type;
  return node_.graph().unique_name(fmt::format("{}/{}", base, hint));
}

Node* Rewrite::make(std::string op_type, std::vector<Value*> inputs, std::vector<Value*> outputs,
                    AttributeList attributes, bool after) {
  std::string name = after && !node_.name.empty() ? fmt::format("{}/{}", node_.name, op_type) : std::string();
  if (!after && !node_.name.empty()) name = outputs[0]->name();
  Node* n = node_.graph().add_node(std::move(op_type), std::move(inputs), std::move(outputs),
                                   std::move(attributes), std::move(name));
  made_.push_back(n);
  sink_.added(*n, node_, after, opset_);
  return n;
}

Value* Rewrite::constant(UnalignedTensor tensor, std::string_view hint) {
  Graph& g = node_.graph();
  if (!sink_.wants_constant_nodes(g)) return g.add_constant(value_name(hint), std::move(tensor));
  Value* v = g.add_value(value_name(hint), Type::tensor(tensor.dtype(), tensor.shape()));
  make("Constant", {}, {v}, {{"value", std::move(tensor)}}, false);
  return v;
}

Value* Rewrite::number(double value, DType dtype, std::string_view hint) {
  return constant(convert(Tensor::scalar(value), dtype), hint);
}

Value* Rewrite::numbers(const std::vector<double>& values, DType dtype, std::string_view hint) {
  return constant(convert(Tensor::vector(values), dtype), hint);
}

Value* Rewrite::add(std::string op_type, std::vector<Value*> inputs, AttributeList attributes) {
  return add_multi(std::move(op_type), std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<Value*> Rewrite::add_multi(std::string op_type, std::vector<Value*> inputs,
                                       AttributeList attributes, size_t outputs) {
  std::vector<Value*> values;
  for (size_t i = 0; i < outputs; ++i) values.push_back(node_.graph().add_value(value_name(op_type)));
  make(std::move(op_type), std::move(inputs), values, std::move(attributes), false);
  return values;
}

Value* Rewrite::add_like_this(std::vector<Value*> inputs) {
  AttributeList attributes;
  for (const Attribute& a : node_.attributes) attributes.emplace_back(a.name, a.data);
  Value* out = add(node_.op_type, std::move(inputs), std::move(attributes));
  Node* copy = out->producer();
  copy->name = node_.name;
  copy->doc_string = node_.doc_string;
  copy->metadata = node_.metadata;
  return out;
}

Value* Rewrite::add_inside(Graph& graph, std::string op_type, std::vector<Value*> inputs,
                           AttributeList attributes) {
  Value* out = graph.add_value(graph.unique_name(op_type));
  Node* n = graph.add_node(std::move(op_type), std::move(inputs), {out}, std::move(attributes));
  sink_.added_inside(*n, opset_);
  return out;
}

Value* Rewrite::take_output(size_t i) {
  Value* fresh = node_.graph().add_value(value_name(node_.op_type));
  node_.set_output(i, fresh);
  return fresh;
}

void Rewrite::give(Value* old, std::string op_type, std::vector<Value*> inputs, AttributeList attributes) {
  make(std::move(op_type), std::move(inputs), {old}, std::move(attributes), true);
}

void Rewrite::replace(const std::vector<Value*>& values) {
  const std::vector<Value*> old = node_.outputs();
  std::vector<Value*> fresh(old.size(), nullptr);
  for (size_t i = 0; i < std::min(old.size(), values.size()); ++i) {
    if (old[i] == nullptr || values[i] == nullptr) continue;
    const bool is_made = std::find(made_.begin(), made_.end(), values[i]->producer()) != made_.end();
    const bool is_taken = std::find(fresh.begin(), fresh.end(), values[i]) != fresh.end();
    fresh[i] = is_made && !is_taken ? values[i] : add("Identity", {values[i]});
  }
  node_.set_outputs({});
  node_.set_inputs({});
  for (size_t i = 0; i < old.size(); ++i) {
    if (fresh[i] == nullptr) continue;
    Node* maker = fresh[i]->producer();
    const std::vector<Value*>& slots = maker->outputs();
    const size_t slot = static_cast<size_t>(std::find(slots.begin(), slots.end(), fresh[i]) - slots.begin());
    maker->set_output(slot, old[i]);
    replace_inputs(*fresh[i], old[i]);
  }
  sink_.removed(node_);
}

void Rewrite::become_constant(UnalignedTensor tensor) {
  if (sink_.wants_constant_nodes(node_.graph()))
    no_equivalent("a constant of type {} in a function", dtype_name(tensor.dtype()));
  Value* out = output(0);
  if (sink_.outputs().contains(*out)) return replace({constant(std::move(tensor), "value")});
  node_.set_outputs({});
  out->set_tensor(std::move(tensor));
  sink_.removed(node_);
}

Value* cast(Rewrite& r, Value* v, DType to) {
  if (dtype_of(v) == to) return v;
  return r.add("Cast", {v}, {{"to", static_cast<int64_t>(to)}});
}

}  // namespace assay
