#include "transform/expose_value.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analysis/match.h"
#include "assay/error.h"

namespace assay {
namespace {

/// Lifts values out of graphs, and caches searches.
class Exposer {
 public:
  explicit Exposer(const Model& model) : opset_(model.opset()) {
    for (const Value* v : model.graph->inputs)
      if (v->type.has_shape())
        for (const Dim& d : *v->type.dims)
          if (d.is_symbol()) fixed_.insert(d.symbol());
  }
  /// The value of the enclosing graph that exposes one of a subgraph. If it throws, nothing has changed.
  Value* lift(Value& inner);

 private:
  void check(const Value& inner, const Node& holder) const;
  Value* from_branch(Value& given, const Value& inner, Node& holder, std::string name);
  /// All iterations' as a scan output.
  Value* stacked(Value& given, Node& holder, std::string name);
  /// All iterations' in a sequence that the Loop carries.
  Value* collected(Value& given, Node& holder, std::string name);
  Node& holder_of(const Graph& g);
  Value* as_output(Graph& g, Value& v);

  bool is_fixed(const Dim& d) const;
  bool may_vary(const Type& t) const;

  int64_t opset_;
  std::unordered_set<std::string> fixed_;   // extents that the main graph's inputs have
  std::unordered_set<const Graph*> known_;  // graphs whose nodes are indexed
  std::unordered_map<const Graph*, Node*> holders_;
  std::unordered_map<const Graph*, std::unordered_set<const Value*>> outputs_;
};

/// The node of the enclosing graph that holds this one.
Node& Exposer::holder_of(const Graph& g) {
  require(
      g.parent() != nullptr, ErrorCode::kInvalidArgument,
      "a tensor in the body of a local function has a value for each call of it: inline the function first");
  if (known_.insert(g.parent()).second)
    for (const auto& n : g.parent()->nodes())
      for (const Attribute& a : n->attributes)
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) holders_.emplace(sub->get(), n.get());
  const auto it = holders_.find(&g);
  require(it != holders_.end(), ErrorCode::kInternal, "no node holds the subgraph '{}'", g.name);
  return *it->second;
}

/// Adds an output to the graph: a value that it computes and does not return yet.
Value* Exposer::as_output(Graph& g, Value& v) {
  const auto [it, is_new] = outputs_.try_emplace(&g);
  if (is_new) it->second.insert(g.outputs.begin(), g.outputs.end());
  const bool is_free = v.producer() != nullptr && it->second.insert(&v).second;
  if (is_free) return &v;
  Value* copy = g.add_value(g.unique_name(v.name() + "_exposed"), v.type);
  g.add_node("Identity", {&v}, {copy});
  return copy;
}

/// The result of the other branch: a tensor without elements, of the same rank, or an empty sequence.
void add_empty_output(Graph& branch, const Value& like) {
  const std::string name = branch.unique_name(like.name() + "_absent");
  if (like.type.kind == Type::Kind::kSequence) {
    Value* empty = branch.add_value(name, like.type);
    branch.add_node("SequenceEmpty", {}, {empty},
                    {{"dtype", static_cast<int64_t>(like.type.element->dtype)}});
    branch.outputs.push_back(empty);
    return;
  }
  const Shape shape(std::vector<int64_t>(static_cast<size_t>(std::max(1, rank_of(&like))), 0));
  Value* empty = branch.add_value(name, Type::tensor(like.type.dtype, shape));
  branch.add_node("Constant", {}, {empty}, {{"value", Tensor::zeros(like.type.dtype, shape)}});
  branch.outputs.push_back(empty);
}

void append_output(Node& n, Value* v) {
  std::vector<Value*> outputs = n.outputs();
  outputs.push_back(v);
  n.set_outputs(std::move(outputs));
}

/// A list attribute of Scan with an entry for each of its scan outputs.
void extend_list(Node& scan, const char* name) {
  std::vector<int64_t> list = ints_attribute(scan, name);
  if (list.empty()) return;
  list.push_back(0);
  scan.set_attribute(name, std::move(list));
}

Type stacked_type(const Type& t) {
  if (!t.has_shape()) return Type::tensor(t.dtype);
  Dims dims = *t.dims;
  dims.insert(dims.begin(), Dim());
  return Type::tensor(t.dtype, std::move(dims));
}

/// An extent that is the same in all iterations: a number, or an expression over extents of the model's
/// inputs.
bool Exposer::is_fixed(const Dim& d) const {
  if (d.is_known()) return true;
  if (!d.is_symbol()) return false;
  if (fixed_.contains(d.symbol())) return true;
  const std::string& text = d.symbol();
  const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && belongs(text[i])) ++i;
    const std::string word = text.substr(begin, i - begin);
    const bool is_number = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number && !fixed_.contains(word)) return false;
    if (i == begin) ++i;
  }
  return true;
}

/// True when its shape may differ between iterations, as far as types tell.
bool Exposer::may_vary(const Type& t) const {
  return !t.dims || !std::all_of(t.dims->begin(), t.dims->end(), [&](const Dim& d) { return is_fixed(d); });
}

/// Loop carries sequences from this opset on.
constexpr int64_t kCarriesSequences = 13;

void Exposer::check(const Value& inner, const Node& holder) const {
  const bool is_if = is_op(holder, "If");
  require(is_if || is_op(holder, "Loop") || is_op(holder, "Scan"), ErrorCode::kInvalidArgument,
          "node {} cannot hand out the tensor '{}' of its subgraph", holder.label(), inner.name());
  const Type& t = inner.type;
  const bool is_sequence = t.kind == Type::Kind::kSequence && t.element != nullptr && t.element->is_tensor();
  const DType dtype = t.is_tensor() ? t.dtype : is_sequence ? t.element->dtype : DType::kUndefined;
  require(!is_if || dtype != DType::kUndefined, ErrorCode::kInvalidArgument,
          "the type of '{}' is not known, so the other branch cannot give anything in its place",
          inner.name());
  require(is_if || t.is_tensor() || t.kind == Type::Kind::kUnknown, ErrorCode::kInvalidArgument,
          "node {} cannot hand out '{}', which is no tensor, of every iteration", holder.label(),
          inner.name());
}

Value* Exposer::from_branch(Value& given, const Value& inner, Node& holder, std::string name) {
  given.graph().outputs.push_back(&given);
  // Either branch may run, so its extents are open.
  Value* result = holder.graph().add_value(
      std::move(name), inner.type.is_tensor() ? Type::tensor(inner.type.dtype) : inner.type);
  for (const Attribute& a : holder.attributes)
    if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub != nullptr && sub->get() != &given.graph())
      add_empty_output(**sub, inner);
  append_output(holder, result);
  return result;
}

Value* Exposer::stacked(Value& given, Node& holder, std::string name) {
  given.graph().outputs.push_back(&given);
  Value* result = holder.graph().add_value(std::move(name), stacked_type(given.type));
  if (is_op(holder, "Scan")) {
    extend_list(holder, "scan_output_axes");
    extend_list(holder, "scan_output_directions");
  }
  append_output(holder, result);
  return result;
}

Value* Exposer::collected(Value& given, Node& holder, std::string name) {
  Graph &body = given.graph(), &outer = holder.graph();
  const size_t carried = body.inputs.size() - 2;
  Type type{.kind = Type::Kind::kSequence,
            .element = std::make_shared<const Type>(Type::tensor(given.type.dtype))};
  Value* first = outer.add_value(outer.unique_name(name + "_begin"), type);
  outer.insert_node(&holder, "SequenceEmpty", {}, {first},
                    {{"dtype", static_cast<int64_t>(given.type.dtype)}});
  Value* before = body.add_input(body.unique_name(given.name() + "_before"), type);
  Value* after = body.add_value(body.unique_name(given.name() + "_after"), type);
  body.add_node("SequenceInsert", {before, &given}, {after});
  body.outputs.insert(body.outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried), after);
  std::vector<Value*> inputs = holder.inputs(), outputs = holder.outputs();
  inputs.resize(std::max<size_t>(inputs.size(), 2 + carried));
  inputs.push_back(first);
  holder.set_inputs(std::move(inputs));
  Value* result = outer.add_value(std::move(name), type);
  outputs.resize(std::max(outputs.size(), body.outputs.size() - 2));
  outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(carried), result);
  holder.set_outputs(std::move(outputs));
  return result;
}

Value* Exposer::lift(Value& inner) {
  Graph& g = inner.graph();
  Node& holder = holder_of(g);
  check(inner, holder);
  const std::string holder_name =
      !holder.name.empty() || holder.output(0) == nullptr ? holder.name : holder.output(0)->name();
  std::string name = holder.graph().unique_name(holder_name + "::" + inner.name());
  const bool varies = is_op(holder, "Loop") && inner.type.is_tensor() &&
                      inner.type.dtype != DType::kUndefined && may_vary(inner.type) &&
                      opset_ >= kCarriesSequences;
  if (varies) return collected(inner, holder, std::move(name));
  Value* given = as_output(g, inner);
  return is_op(holder, "If") ? from_branch(*given, inner, holder, std::move(name))
                             : stacked(*given, holder, std::move(name));
}

}  // namespace

std::vector<Value*> expose_values(Model& model, std::span<Value* const> values) {
  Exposer exposer(model);
  std::vector<Value*> exposed;
  for (Value* v : values) {
    while (&v->graph() != model.graph.get()) v = exposer.lift(*v);
    exposed.push_back(v);
  }
  return exposed;
}

std::vector<Value*> expose_where_possible(Model& model, std::span<Value* const> values) {
  Exposer exposer(model);
  std::vector<Value*> exposed;
  for (Value* v : values) {
    try {
      while (&v->graph() != model.graph.get()) v = exposer.lift(*v);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kInvalidArgument) throw;
      v = nullptr;
    }
    exposed.push_back(v);
  }
  return exposed;
}

}  // namespace assay
