// Branches and loops.
#include "assay/edit.h"
#include "fuzz/networks/growing_network.h"

namespace assay::fuzz::pieces_of {

/// An If on a number of the network, whose branches see a value of it.
void branch(GrowingNetwork& g) {
  Value* x = g.pick();
  if (GrowingNetwork::shape(*x).numel() == 0) return;
  const auto body = [&](const char* type) {
    auto graph = std::make_shared<Graph>();
    graph->name = type;
    graph->set_parent(g.model->graph.get());
    Value* const inner = layer(*graph, type, {x}, {"r"})[0];
    graph->outputs = {layer(*graph, g.r.one_of({"Neg", "Relu", "Abs"}), {inner}, {"r"})[0]};
    return graph;
  };
  Value* const size = g.op("ReduceMax", {x}, {{"keepdims", int64_t{0}}});
  Value* const large = g.op("Greater", {size, g.number(0.4)});
  g.hand_on(g.op("If", {large}, {{"then_branch", body("Sigmoid")}, {"else_branch", body("Identity")}}));
}

/// A Loop that joins what it makes to what it carries, as a scripted torch.cat does, and a part that waits
/// for the result's shape: a branch, and nodes that read a constant of the branch behind it.
void appending_loop(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() == 0 || in.numel() == 0 || in.numel() * 8 > GrowingNetwork::kMaxElements) return;
  const auto axis = static_cast<int64_t>(g.r.below(static_cast<uint64_t>(in.rank())));
  const int64_t trips = g.r.between(0, 4);
  Shape first = in;
  first[static_cast<int>(axis)] = g.r.between(0, 2);

  auto body = std::make_shared<Graph>();
  body->name = "body";
  body->set_parent(g.model->graph.get());
  Value* trip = body->add_input("trip", Type::tensor(DType::kInt64, Dims{}));
  Value* go = body->add_input("go", Type::tensor(DType::kBool, Dims{}));
  Value* carried = body->add_input("carried", Type::tensor(DType::kFloat32));
  const auto add = [&](const char* op, const LayerArguments& inputs, AttributeList attributes = {}) {
    return layer(*body, op, inputs, {"r"}, {.attributes = std::move(attributes)})[0];
  };
  Value* turn = add("Cast", {trip}, {{"to", static_cast<int64_t>(DType::kFloat32)}});
  Value* part = add(g.r.one_of({"Mul", "Add", "Max"}), {x, turn});
  LayerArguments joined = {carried, part};
  if (g.r.chance(30)) joined.emplace_back(add("Neg", {part}));
  if (g.r.chance(30)) std::swap(joined.front(), joined.back());
  Value* next = add("Concat", joined, {{"axis", g.r.chance(30) ? axis - in.rank() : axis}});
  // Intermediate values that are compared have to exist.
  Value* goes_on = g.r.chance(70) ? go : add("GreaterOrEqual", {add("Size", {next}), add("Size", {part})});
  body->outputs = {add("Identity", {goes_on}), next};
  Value* all = g.op(
      "Loop",
      {g.ints({trips}), g.model->graph->add_constant(g.model->graph->unique_name("go"), Tensor::scalar(true)),
       g.weight(first)},
      {{"body", body}});

  Value* scale = g.number(g.r.one_of({0.5, -2.0}));
  const auto side = [&](const char* op) {
    auto graph = std::make_shared<Graph>();
    graph->name = op;
    graph->set_parent(g.model->graph.get());
    graph->outputs = layer(*graph, op, {all, scale}, {"r"});
    return graph;
  };
  Value* const is_even = g.op("Equal", {g.op("Mod", {g.op("Size", {all}), g.ints({2})}), g.ints({0})});
  all =
      g.op("If", {g.op("Squeeze", {is_even})}, {{"then_branch", side("Mul")}, {"else_branch", side("Add")}});
  all = g.op("Max", {all, scale});
  g.op("Neg", {all});  // an output of the network, whose shape is not known before
  Value* const line = g.op("Reshape", {all, g.ints({-1})});
  Value* const padded = g.op("Concat", {line, g.weight({4})}, {{"axis", int64_t{0}}});
  g.hand_on(g.op("Slice", {padded, g.ints({0}), g.ints({4})}));
}

}  // namespace assay::fuzz::pieces_of
