// Recurrences, subgraphs, sequences and optionals.
#include <algorithm>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

std::shared_ptr<Graph> new_graph() {
  auto g = std::make_shared<Graph>();
  g->name = "body";
  return g;
}

/// Tensors of one type, of different shapes or of one.
std::vector<Tensor> elements(Draft& d, DType t, const Shape& shape, bool alike, int64_t least = 1) {
  std::vector<Tensor> list;
  for (int64_t n = d.r.between(least, 3); n > 0; --n)
    list.push_back(d.values(t, alike ? shape : d.positive_shape(shape.rank(), shape.rank())));
  return list;
}

DType element_type(Draft& d) {
  return d.r.one_of(
      {DType::kFloat32, DType::kFloat32, DType::kInt64, DType::kInt32, DType::kFloat64, DType::kBool});
}

}  // namespace

/// RNN, GRU and LSTM.
void make_recurrent(Draft& d) {
  const int64_t gates = d.is("LSTM")  ? 4
                        : d.is("GRU") ? 3
                                      : 1,
                b = d.positive(3), length = d.positive(4), in = d.positive(3), h = d.positive(4);
  const std::string direction = d.r.one_of({"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  d.attr("direction", direction);
  d.attr("hidden_size", h);
  const bool swapped = d.has_attr("layout") && d.r.chance(25);
  if (swapped) d.attr("layout", int64_t{1});
  const Shape state = swapped ? Shape{b, directions, h} : Shape{directions, b, h};
  d.input("X", swapped ? Shape{b, length, in} : Shape{length, b, in}, -2, 2);
  d.input("W", Shape{directions, gates * h, in}, -1, 1);
  d.input("R", Shape{directions, gates * h, h}, -1, 1);
  d.maybe_input("B", {directions, 2 * gates * h}, 60, -1, 1);
  if (d.r.chance(40)) d.input("sequence_lens", d.integers(DType::kInt32, {b}, 1, length));
  d.maybe_input("initial_h", state, 40, -1, 1);
  d.maybe_input("initial_c", state, 40, -1, 1);
  d.maybe_input("P", {directions, 3 * h}, 30, -1, 1);
  if (d.r.chance(30)) d.attr("clip", 1.5f);
  if (d.is("GRU")) d.flag("linear_before_reset");
  if (d.r.chance(30)) {
    std::vector<std::string> names;
    for (int64_t i = (d.is("LSTM") ? 3 : d.is("GRU") ? 2 : 1) * directions; i > 0; --i)
      names.push_back(d.r.one_of({"Tanh", "Sigmoid", "Relu", "Softsign"}));
    d.attr("activations", names);
  }
  d.outputs = d.is("LSTM") ? 3 : 2;
}

void make_if(Draft& d) {
  d.input("cond", d.values(DType::kBool, d.r.chance(50) ? Shape{} : Shape{1}));
  const DType t = element_type(d);
  d.outputs = static_cast<int>(d.positive(2));
  const Shape s = d.positive_shape(0, 3);
  for (const char* branch : {"then_branch", "else_branch"}) {
    const auto g = new_graph();
    for (int i = 0; i < d.outputs; ++i) {
      Value* v = g->add_constant(std::string(branch) + std::to_string(i), d.values(t, s));
      Value* out = g->add_value(v->name() + "_out");
      g->add_node(d.r.chance(70) || t == DType::kBool ? "Identity" : "Abs", {v}, {out});
      g->outputs.push_back(out);
    }
    d.attr(branch, g);
  }
}

/// A state that grows, a scanned output, and a condition that may end the loop.
void make_loop(Draft& d) {
  // The body's own operators take integers, and broadcast, from opset 7 on, and Less from 9 on.
  const DType t = d.since < 9 ? d.r.one_of({DType::kFloat32, DType::kFloat64})
                              : d.r.one_of({DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt32});
  const Shape s = d.positive_shape(0, 2);
  const bool counted = d.since >= 9 && d.r.chance(50);
  // Something has to end it: with neither count nor condition, what the body says is ignored.
  const bool limited = !counted || d.r.chance(80);
  if (limited) d.input("M", d.integers(DType::kInt64, d.r.chance(50) ? Shape{} : Shape{1}, 0, 4));
  if (!limited || d.r.chance(70)) d.input("cond", Tensor::scalar(d.r.chance(85)));
  d.more(d.values(t, s));
  const auto g = new_graph();
  Value *i = g->add_input("i", Type::tensor(DType::kInt64, Shape{})),
        *cond = g->add_input("go", Type::tensor(DType::kBool, Shape{}));
  Value *state = g->add_input("state", Type::tensor(t, s)), *next = g->add_value("next"),
        *scanned = g->add_value("scanned"), *go = g->add_value("go_on");
  Value *step = g->add_constant("step", d.values(t, d.since < 9 ? s : d.broadcast_to(s))),
        *three = g->add_constant("three", Tensor::scalar(int64_t{3}));
  g->add_node(d.r.chance(60) ? "Add" : "Mul", {state, step}, {next});
  g->add_node(d.r.chance(50) ? "Identity" : "Neg", {state}, {scanned});
  if (counted)
    g->add_node("Less", {i, three}, {go});
  else
    g->add_node("Identity", {cond}, {go});
  g->outputs = {go, next, scanned};
  d.attr("body", g);
  d.outputs = 2;
}

void make_scan(Draft& d) {
  const DType t = d.r.one_of({DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt32});
  const Shape s = d.positive_shape(0, 2);
  const int64_t length = d.positive(4);
  Shape scanned = s;
  const int64_t axis = d.since >= 9 && d.r.chance(40) ? d.r.between(0, s.rank()) : 0;
  scanned.insert_at(static_cast<size_t>(axis), length);
  Shape state = s;
  if (d.since == 8) {
    const int64_t batch = d.positive(2);
    state.insert_at(0, batch);
    scanned.insert_at(0, batch);
    if (d.r.chance(40)) d.input("sequence_lens", d.integers(DType::kInt64, {batch}, 1, length));
  }
  d.more(d.values(t, state));
  d.more(d.values(t, scanned));
  const auto g = new_graph();
  Value *a = g->add_input("a", Type::tensor(t, s)), *b = g->add_input("b", Type::tensor(t, s));
  Value *sum = g->add_value("sum"), *out = g->add_value("each");
  g->add_node("Add", {a, b}, {sum});
  g->add_node(d.r.chance(50) ? "Identity" : "Neg", {sum}, {out});
  g->outputs = {sum, out};
  d.attr("body", g);
  d.attr("num_scan_inputs", int64_t{1});
  if (axis != 0) d.attr("scan_input_axes", std::vector<int64_t>{axis});
  const int64_t backwards = d.r.between(0, 1);
  d.attr(d.since == 8 ? "directions" : "scan_input_directions", std::vector<int64_t>{backwards});
  if (d.since >= 9 && d.r.chance(30)) d.attr("scan_output_directions", std::vector<int64_t>{1});
  if (d.since >= 9 && d.r.chance(30))
    d.attr("scan_output_axes", std::vector<int64_t>{d.r.between(0, s.rank())});
  d.outputs = 2;
}

void make_sequence_map(Draft& d) {
  const DType t = d.r.one_of({DType::kFloat32, DType::kInt64});
  const Shape s = d.positive_shape(1, 2);
  d.input("input_sequence", Tensor::sequence(elements(d, t, s, true)));
  d.more(d.values(t, Shape{}));
  const auto g = new_graph();
  Value *a = g->add_input("a", Type::tensor(t)), *b = g->add_input("b", Type::tensor(t)),
        *out = g->add_value("sum");
  g->add_node("Add", {a, b}, {out});
  g->outputs = {out};
  d.attr("body", g);
  d.outputs = 1;
}

void make_sequence_construct(Draft& d) {
  for (const Tensor& t : elements(d, element_type(d), d.positive_shape(0, 2), false)) d.more(t);
}

void make_sequence_empty(Draft& d) {
  if (d.r.chance(70)) d.attr("dtype", static_cast<int64_t>(element_type(d)));
}

/// SequenceAt, SequenceErase, SequenceInsert, SequenceLength.
void make_sequence_access(Draft& d) {
  const DType t = element_type(d);
  const std::vector<Tensor> list = elements(d, t, d.positive_shape(0, 2), false);
  const auto n = static_cast<int64_t>(list.size());
  const bool inserts = d.is("SequenceInsert");
  d.input("input_sequence", Tensor::sequence(list));
  if (inserts) d.input("tensor", d.values(t, d.positive_shape(0, 2)));
  if (d.has_input("position") && (d.is("SequenceAt") || d.r.chance(70)))
    d.input("position", d.integers(d.input_dtype("position"), {}, -n, inserts ? n : n - 1));
}

void make_split_to_sequence(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  d.input("input", s);
  const int64_t axis = d.axis(s.rank()), extent = s[static_cast<size_t>(axis < 0 ? axis + s.rank() : axis)];
  d.attr("axis", axis);
  if (d.r.chance(40)) return d.attr("keepdims", int64_t{d.r.chance(50)});
  const DType t = d.input_dtype("split");
  if (d.r.chance(50)) return d.input("split", d.integers(t, {}, 1, extent));
  const int64_t first = d.r.between(0, extent);
  d.input("split", convert(Tensor::vector(std::vector<int64_t>{first, extent - first}), t));
}

void make_concat_from_sequence(Draft& d) {
  const Shape s = d.positive_shape(1, 3);
  const bool stacks = d.r.chance(40);
  d.input("input_sequence", Tensor::sequence(elements(d, element_type(d), s, true)));
  if (stacks) d.attr("new_axis", int64_t{1});
  d.attr("axis", d.axis(s.rank() + stacks));
}

void make_optional(Draft& d) {
  const DType t = element_type(d);
  const Shape s = d.positive_shape(0, 2);
  const std::string name = d.schema.inputs[0].name;
  const Tensor one = d.values(t, s), list = Tensor::sequence(elements(d, t, s, false));
  const Tensor inner = d.r.chance(50) ? one : list;
  if (d.is("Optional")) return d.input(name, inner);
  const bool plain = d.since >= 18 && d.r.chance(30);
  const bool empty = d.is("OptionalHasElement") && d.r.chance(20);
  d.input(name, plain ? inner : Tensor::optional(empty ? Tensor() : inner));
}

void make_identity(Draft& d) {
  if (d.since >= 14 && d.r.chance(20)) {
    const Tensor list = Tensor::sequence(elements(d, element_type(d), d.positive_shape(0, 2), false));
    return d.input("input", d.since >= 16 && d.r.chance(40) ? Tensor::optional(list) : list);
  }
  d.input("input", d.shape(0, 4));
}

}  // namespace assay::fuzz
