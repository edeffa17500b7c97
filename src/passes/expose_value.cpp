#include "passes/expose_value.h"

#include <algorithm>

#include "assay/edit.h"
#include "assay/error.h"
#include "passes/match.h"

namespace assay {
namespace {

/// The node of the enclosing graph that holds this one.
Node& holder_of(const Graph& g) {
  require(
      g.parent() != nullptr, ErrorCode::kInvalidArgument,
      "a tensor in the body of a local function has a value for each call of it: inline the function first");
  for (const auto& n : g.parent()->nodes())
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub != nullptr && sub->get() == &g) return *n;
  fail(ErrorCode::kInternal, "no node holds the subgraph '{}'", g.name);
}

/// Something that the graph may give out in addition: a value that it computes and does not give out yet.
Value* as_output(Graph& g, Value& v) {
  const bool is_free =
      v.producer() != nullptr && std::find(g.outputs.begin(), g.outputs.end(), &v) == g.outputs.end();
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

/// The value of the enclosing graph that stands for one of a subgraph.
Value* lift(Value& inner) {
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
    for (Graph* branch : subgraphs(outer))
      for (const Attribute& a : holder.attributes)
        if (const auto* sub = a.get_if<std::shared_ptr<Graph>>();
            sub != nullptr && sub->get() == branch && branch != &g)
          add_empty_output(*branch, inner);
  }
  if (is_op(holder, "Scan")) {
    extend_list(holder, "scan_output_axes");
    extend_list(holder, "scan_output_directions");
  }
  append_output(holder, result);
  return result;
}

}  // namespace

Value* expose_value(Model& model, Value& inner) {
  Value* v = &inner;
  while (&v->graph() != model.graph.get()) v = lift(*v);
  return v;
}

}  // namespace assay
