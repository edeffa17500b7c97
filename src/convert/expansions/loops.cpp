// Operators that work element after element, as loops and scans.
#include <algorithm>
#include <unordered_set>

#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

std::shared_ptr<Graph> new_body(Rewrite& r, const char* name) {
  auto body = std::make_shared<Graph>();
  body->name = name;
  body->set_parent(&r.node().graph());
  return body;
}

Value* body_input(Graph& body, const char* name, Type type) {
  Value* v = body.add_value(body.unique_name(name), std::move(type));
  body.inputs.push_back(v);
  return v;
}

/// A value of rank 0.
Value* scalar(Rewrite& r, size_t i) {
  if (rank_of(r.input(i)) == 0) return r.input(i);
  return r.add("Reshape", {r.input(i), r.ints({}, "scalar")});
}

Value* is_negative(Rewrite& r, Value* v) {
  Value* number = cast(r, v, DType::kFloat64);
  return r.add("Less", {number, r.number(0, DType::kFloat64, "zero")});
}

/// (limit - start) / delta, rounded up, and at least 0; exact for integers, and as exact as double for
/// floats.
Value* range_length(Rewrite& r, Value* start, Value* limit, Value* delta) {
  const DType wide = is_float(dtype_of(start)) ? DType::kFloat64 : DType::kInt64;
  Value* step = cast(r, delta, wide);
  Value* distance = r.add("Sub", {cast(r, limit, wide), cast(r, start, wide)});
  Value* count = r.add("Div", {distance, step});
  if (wide == DType::kFloat64) {
    count = cast(r, r.add("Ceil", {count}), DType::kInt64);
  } else {
    // The quotient is rounded towards 0, which is up unless it is positive and has a remainder.
    Value* rest = r.add("Sub", {distance, r.add("Mul", {count, step})});
    Value* is_down = r.add("Xor", {is_negative(r, distance), is_negative(r, step)});
    Value* is_up = r.add("And", {r.add("Not", {is_down}), cast(r, rest, DType::kBool)});
    count = r.add("Add", {count, cast(r, is_up, DType::kInt64)});
  }
  return r.add("Mul", {count, cast(r, r.add("Not", {is_negative(r, count)}), DType::kInt64)});
}

void expand_range(Rewrite& r) {
  const DType t = r.dtype(0), own = t == DType::kInt16 ? DType::kInt64 : t;
  Value *start = cast(r, scalar(r, 0), own), *limit = cast(r, scalar(r, 1), own),
        *delta = cast(r, scalar(r, 2), own);
  Value* count = range_length(r, start, limit, delta);
  const std::shared_ptr<Graph> body = new_body(r, "range");
  Value* i = body_input(*body, "i", Type::tensor(DType::kInt64, Shape{}));
  Value* condition = body_input(*body, "condition", Type::tensor(DType::kBool, Shape{}));
  Value* carried = body_input(*body, "carried", Type::tensor(DType::kInt64, Shape{}));
  Value* number = r.add_inside(*body, "Cast", {i}, {{"to", static_cast<int64_t>(own)}});
  number = r.add_inside(*body, "Add", {start, r.add_inside(*body, "Mul", {number, delta})});
  // Old versions of Loop require a carried value.
  body->outputs = {r.add_inside(*body, "Identity", {condition}), r.add_inside(*body, "Identity", {carried}),
                   number};
  Value* yes = r.constant(Tensor::scalar(true), "go_on");
  const std::vector<Value*> results =
      r.add_multi("Loop", {count, yes, whole(r, 0, "carried")}, {{"body", body}}, 2);
  r.replace({cast(r, results[1], t)});
}

/// A type without one of its extents.
Type without_axis(const Value* v, int64_t axis) {
  Type t = Type::tensor(dtype_of(v));
  if (!v->type.has_shape()) return t;
  t.dims = v->type.dims;
  t.dims->erase(t.dims->begin() + axis);
  return t;
}

/// A scan along the axis whose state is the sum or product so far.
void accumulate(Rewrite& r, const char* op, double first) {
  const int64_t rank = r.rank(0);
  // Of one axis there is no choice.
  const Ints given = rank == 1 ? Ints{0} : r.constant_ints(1, "axis");
  if (given.size() != 1) no_equivalent("an axis of {} numbers", given.size());
  const int64_t axis = r.front_axis(given[0], 0);
  const DType t = r.dtype(0);
  const bool exclusive = r.get_int("exclusive", 0) != 0;
  const int64_t direction = r.get_int("reverse", 0) != 0 ? 1 : 0;
  const Type part = without_axis(r.input(0), axis);
  const std::shared_ptr<Graph> body = new_body(r, "accumulate");
  Value *before = body_input(*body, "before", part), *element = body_input(*body, "element", part);
  Value* after = r.add_inside(*body, op, {before, element});
  body->outputs = {after, r.add_inside(*body, "Identity", {exclusive ? before : after})};
  Value* start = r.number(first, t, "first");
  if (rank > 1) {
    Ints others;
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis) others.push_back(d);
    start =
        r.add("Expand", {start, r.add("Gather", {r.add("Shape", {r.input(0)}), r.ints(others, "others")})});
  }
  AttributeList attributes = {{"body", body},
                              {"num_scan_inputs", int64_t{1}},
                              {"scan_input_axes", Ints{axis}},
                              {"scan_output_axes", Ints{axis}},
                              {"scan_input_directions", Ints{direction}},
                              {"scan_output_directions", Ints{direction}}};
  const std::vector<Value*> results = r.add_multi("Scan", {start, r.input(0)}, std::move(attributes), 2);
  r.replace({results[1]});
}

/// -0 + x is x, including -0; the start of an exclusive sum is given, and is 0.
void expand_cum_sum(Rewrite& r) {
  const bool keeps_sign = is_float(r.dtype(0)) && r.get_int("exclusive", 0) == 0;
  accumulate(r, "Add", keeps_sign ? -0.0 : 0.0);
}

void expand_cum_prod(Rewrite& r) { accumulate(r, "Mul", 1); }

/// Wraps the body in a loop that takes one element of every sequence and appends the results.
void expand_sequence_map(Rewrite& r) {
  const Attribute* attribute = r.node().find_attribute("body");
  if (attribute == nullptr || attribute->get_if<std::shared_ptr<Graph>>() == nullptr)
    no_equivalent("a node without body");
  const auto body = *attribute->get_if<std::shared_ptr<Graph>>();
  const std::vector<Value*> in = r.node().inputs(), parts = body->inputs;
  const size_t count = body->outputs.size();
  if (parts.size() != in.size() || count != r.node().outputs().size())
    no_equivalent("a body with {} inputs and {} outputs for {} and {}", parts.size(), count, in.size(),
                  r.node().outputs().size());
  for (const Value* v : in)
    if (v == nullptr || v->type.kind == Type::Kind::kUnknown) no_equivalent("an input of unknown type");
  std::vector<Value*> carried = {r.add("SequenceLength", {in[0]}), r.constant(Tensor::scalar(true), "go_on")};
  for (size_t i = 0; i < count; ++i) {
    DType t = dtype_of(body->outputs[i]);
    const Value* out = r.output(i);
    if (t == DType::kUndefined && out != nullptr && out->type.element) t = out->type.element->dtype;
    if (t == DType::kUndefined) no_equivalent("the element type of output {} is not known", i);
    carried.push_back(r.add("SequenceEmpty", {}, {{"dtype", static_cast<int64_t>(t)}}));
  }
  std::vector<Node*> order;
  for (const auto& n : body->nodes()) order.push_back(n.get());
  const auto own = static_cast<std::ptrdiff_t>(order.size());
  body->inputs.clear();
  Value* i = body_input(*body, "i", Type::tensor(DType::kInt64, Shape{}));
  Value* condition = body_input(*body, "condition", Type::tensor(DType::kBool, Shape{}));
  for (size_t k = 0; k < parts.size(); ++k) {
    const bool is_sequence = in[k]->type.kind == Type::Kind::kSequence;
    Value* part = is_sequence ? r.add_inside(*body, "SequenceAt", {in[k], i})
                              : r.add_inside(*body, "Identity", {in[k]});
    part->type = parts[k]->type;
    body->replace_uses(parts[k], part);
  }
  const std::vector<Value*> results = body->outputs;
  body->outputs = {r.add_inside(*body, "Identity", {condition})};
  for (size_t k = 0; k < count; ++k) {
    Value* before = body_input(*body, "before", carried[k + 2]->type);
    body->outputs.push_back(r.add_inside(*body, "SequenceInsert", {before, results[k]}));
  }
  const std::unordered_set<const Node*> placed(order.begin(), order.end());
  for (const auto& n : body->nodes())
    if (!placed.contains(n.get())) order.push_back(n.get());
  // The nodes that take the elements come first.
  const auto picks = order.begin() + own, rest = picks + static_cast<std::ptrdiff_t>(parts.size());
  std::rotate(order.begin(), picks, rest);
  body->reorder_nodes(order);
  body->remove_unused_values();
  r.replace(r.add_multi("Loop", carried, {{"body", body}}, count));
}

}  // namespace

constinit const Expansion expansion_onnx_CumProd = {"", "CumProd", 13, "Scan of Mul", expand_cum_prod};
constinit const Expansion expansion_onnx_CumSum = {"", "CumSum", 10, "Scan of Add", expand_cum_sum};
constinit const Expansion expansion_onnx_Range = {"", "Range", 10, "Loop", expand_range};
constinit const Expansion expansion_onnx_SequenceMap = {"", "SequenceMap", 13, "Loop", expand_sequence_map};

}  // namespace assay
