#include "passes/expose_value.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/error.h"
#include "passes/match.h"

namespace assay {
namespace {

/// Lifts values out of graphs, and remembers what it would have to look for each time.
class Exposer {
 public:
  /// The value of the enclosing graph that stands for one of a subgraph.
  Value* lift(Value& inner);

 private:
  Node& holder_of(const Graph& g);
  Value* as_output(Graph& g, Value& v);

  std::unordered_set<const Graph*> known_;  // of their nodes it is known which graphs they hold
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

/// Makes the graph give something out in addition: a value that it computes and does not give out yet.
Value* Exposer::as_output(Graph& g, Value& v) {
  const auto [it, is_new] = outputs_.try_emplace(&g);
  if (is_new) it->second.insert(g.outputs.begin(), g.outputs.end());
  const bool is_free = v.producer() != nullptr && it->second.insert(&v).second;
  if (is_free) return &v;
  Value* copy = g.add_value(g.unique_name(v.name() + "_exposed"), v.type);
  g.add_node("Identity", {&v}, {copy});
  return copy;
}

/// A tensor of that type without elements, of the same rank.
void add_empty_output(Graph& branch, const Value& like) {
  require(like.type.is_tensor() && like.type.dtype != DType::kUndefined, ErrorCode::kInvalidArgument,
          "the type of '{}' is not known, so the other branch cannot give anything in its place",
          like.name());
  const int rank = std::max(1, rank_of(&like));
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(0);
  Value* empty =
      branch.add_value(branch.unique_name(like.name() + "_absent"), Type::tensor(like.type.dtype, shape));
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

Type stacked(const Type& t) {
  if (!t.has_shape()) return Type::tensor(t.dtype);
  Dims dims = *t.dims;
  dims.insert(dims.begin(), Dim());
  return Type::tensor(t.dtype, std::move(dims));
}

Value* Exposer::lift(Value& inner) {
  Graph& g = inner.graph();
  Node& holder = holder_of(g);
  Graph& outer = holder.graph();
  const std::string holder_name =
      !holder.name.empty() || holder.output(0) == nullptr ? holder.name : holder.output(0)->name();
  Value* given = as_output(g, inner);
  const bool is_if = is_op(holder, "If");
  require(is_if || is_op(holder, "Loop") || is_op(holder, "Scan"), ErrorCode::kInvalidArgument,
          "node {} cannot hand out the tensor '{}' of its subgraph", holder.label(), inner.name());
  g.outputs.push_back(given);
  Value* result = outer.add_value(outer.unique_name(holder_name + "::" + inner.name()),
                                  is_if ? inner.type : stacked(inner.type));
  if (is_if) {
    // Either branch may run, so its extents are open.
    if (result->type.has_shape()) result->type = Type::tensor(inner.type.dtype);
    for (const Attribute& a : holder.attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub != nullptr && sub->get() != &g)
        add_empty_output(**sub, inner);
  }
  if (is_op(holder, "Scan")) {
    extend_list(holder, "scan_output_axes");
    extend_list(holder, "scan_output_directions");
  }
  append_output(holder, result);
  return result;
}

}  // namespace

std::vector<Value*> expose_values(Model& model, std::span<Value* const> values) {
  Exposer exposer;
  std::vector<Value*> exposed;
  for (Value* v : values) {
    while (&v->graph() != model.graph.get()) v = exposer.lift(*v);
    exposed.push_back(v);
  }
  return exposed;
}

}  // namespace assay
