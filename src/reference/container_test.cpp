// Sequences, optionals and subgraphs through the interpreter, in both precisions and with noisy lanes.
#include <gtest/gtest.h>

#include "ops/infer.h"
#include "ops/value_type.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::container_test {
namespace {

Type floats(Dims dims, DType dtype = DType::kFloat32) { return Type::tensor(dtype, std::move(dims)); }

/// A model under construction.
struct Net {
  Net() { model->opsets = {{"", 18}}; }
  Graph& graph() { return *model->graph; }
  std::shared_ptr<Graph> subgraph(Graph& parent) {
    auto g = std::make_shared<Graph>();
    g->set_parent(&parent);
    return g;
  }

  /// Infers and evaluates; the lanes of every output, in their order.
  std::vector<std::vector<Tensor>> run(std::vector<Tensor> feed, const InterpreterOptions& options = {}) {
    infer_shapes(*model);
    Interpreter interpreter(model, options);
    std::vector<std::vector<Tensor>> results(graph().outputs.size());
    interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < results.size(); ++i)
        if (graph().outputs[i] == &v) results[i].assign(lanes.begin(), lanes.end());
    });
    return results;
  }

  std::shared_ptr<Model> model = std::make_shared<Model>();
};

/// y = SequenceMap over s of (element + w) / 3, with w and the divisor captured from outside.
struct MappedNet : Net {
  explicit MappedNet(DType dtype = DType::kFloat32) {
    Graph& g = graph();
    Value* s = g.add_input("s", sequence_of(floats({2}, dtype)));
    Value* w = g.add_input("w", floats({2}, dtype));
    Value* three = g.add_constant("three", convert(Tensor::scalar(3.0F), dtype));
    auto body = subgraph(g);
    Value* in = body->add_input("in", {});
    Value *sum = body->add_value("sum"), *out = body->add_value("out");
    body->add_node("Add", {in, w}, {sum});
    body->add_node("Div", {sum, three}, {out});
    body->outputs = {out};
    Value* y = g.add_value("y");
    g.add_node("SequenceMap", {s}, {y}, {{"body", body}});
    g.outputs = {y};
  }
};

const Tensor kOnes = Tensor::vector<float>({1, 1}), kTens = Tensor::vector<float>({10, 20});

TEST(InterpreterContainers, KeepsElementsInFloat64) {
  MappedNet net;
  const Tensor y = net.run({Tensor::sequence({kOnes, kTens}), kOnes})[0][0];
  ASSERT_EQ(y.dtype(), DType::kSequence);
  ASSERT_EQ(y.numel(), 2);
  EXPECT_TRUE(y.elements()[0].identical(Tensor::vector<double>({2 / 3.0, 2 / 3.0})));
  EXPECT_TRUE(y.elements()[1].identical(Tensor::vector<double>({11 / 3.0, 21 / 3.0})));
}

TEST(InterpreterContainers, RoundsElementsToTheStoredType) {
  MappedNet net(DType::kFloat16);
  const auto half = [](const Tensor& t) { return convert(t, DType::kFloat16); };
  const Tensor y = net.run({Tensor::sequence({half(kOnes), half(kTens)}), half(kOnes)},
                           {.precision = ReferencePrecision::kStored})[0][0];
  EXPECT_TRUE(y.elements()[1].identical(half(Tensor::vector<double>({11 / 3.0, 7}))));
}

TEST(InterpreterContainers, CarriesNoiseIntoElements) {
  MappedNet net;
  const std::vector<Tensor> lanes = net.run({Tensor::sequence({kOnes, kTens}), kOnes}, {.noisy_lanes = 2})[0];
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_TRUE(lanes[0].elements()[0].identical(Tensor::vector<double>({2 / 3.0, 2 / 3.0})));
  for (size_t lane : {1, 2}) {
    const double noisy = lanes[lane].elements()[0].data<double>()[0];
    EXPECT_NE(noisy, 2 / 3.0);
    EXPECT_NEAR(noisy, 2 / 3.0, 1e-6);
  }
}

/// all = Loop of n iterations that appends x + i to a sequence; length and sum are outputs, too.
TEST(InterpreterContainers, ALoopGrowsASequence) {
  Net net;
  Graph& g = net.graph();
  Value* n = g.add_input("n", Type::tensor(DType::kInt64, Dims()));
  Value* x = g.add_input("x", floats({1}));
  Value* empty = g.add_value("empty");
  g.add_node("SequenceEmpty", {}, {empty});
  auto body = net.subgraph(g);
  Value *i = body->add_input("i", {}), *condition = body->add_input("condition", {});
  Value *in = body->add_input("in", {}), *wide = body->add_value("wide"), *sum = body->add_value("sum");
  Value *out = body->add_value("out"), *same = body->add_value("same");
  body->add_node("CastLike", {i, x}, {wide});
  body->add_node("Add", {x, wide}, {sum});
  body->add_node("SequenceInsert", {in, sum}, {out});
  body->add_node("Identity", {condition}, {same});
  body->outputs = {same, out};
  Value *all = g.add_value("all"), *joined = g.add_value("joined"), *length = g.add_value("length");
  g.add_node("Loop", {n, nullptr, empty}, {all}, {{"body", body}});
  g.add_node("ConcatFromSequence", {all}, {joined}, {{"axis", int64_t{0}}});
  g.add_node("SequenceLength", {all}, {length});
  g.outputs = {joined, length};
  const auto y = net.run({Tensor::scalar(int64_t{3}), Tensor::vector<float>({0.5F})});
  EXPECT_TRUE(y[0][0].identical(Tensor::vector<double>({0.5, 1.5, 2.5})));
  EXPECT_EQ(y[1][0].item<int64_t>(), 3);
  try {
    net.run({Tensor::scalar(int64_t{0}), Tensor::vector<float>({0.5F})});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("empty sequence"), std::string::npos) << e.what();
  }
}

/// A value that the body returns for an optional input counts as an optional with an element.
TEST(InterpreterContainers, ALoopMayFillAnOptional) {
  Net net;
  Graph& g = net.graph();
  net.model->opsets = {{"", 16}};  // where OptionalHasElement takes optionals only
  Value* n = g.add_input("n", Type::tensor(DType::kInt64, Dims()));
  Value* o = g.add_input("o", optional_of(floats({1})));
  auto body = net.subgraph(g);
  body->add_input("i", {});
  Value *condition = body->add_input("condition", {}), *in = body->add_input("in", optional_of(floats({1})));
  Value *has = body->add_value("has"), *x = body->add_constant("x", Tensor::vector<float>({7}));
  Value *out = body->add_value("out"), *same = body->add_value("same");
  body->add_node("OptionalHasElement", {in}, {has});
  body->add_node("Identity", {x}, {out});
  body->add_node("Identity", {condition}, {same});
  body->outputs = {same, out, has};
  Value *last = g.add_value("last"), *had = g.add_value("had");
  g.add_node("Loop", {n, nullptr, o}, {last, had}, {{"body", body}});
  g.outputs = {had};
  const auto y = net.run({Tensor::scalar(int64_t{3}), Tensor::optional({})});
  EXPECT_TRUE(y[0][0].identical(Tensor::vector(std::vector<bool>{false, true, true})));
}

TEST(InterpreterContainers, OperatorsGetOnlyWhatTheyTake) {
  Net net;
  Graph& g = net.graph();
  Value* s = g.add_input("s", {});  // of unknown type, so nothing is checked before
  Value* y = g.add_value("y");
  g.add_node("Shape", {s}, {y}, {}, "shape");
  g.outputs = {y};
  try {
    net.run({Tensor::sequence({kOnes})});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "the input 'data' of Shape-15 is a sequence, which it does not take [at node 'shape' (Shape)]");
  }
}

/// y = If(c, If(c, ... x ...)), `depth` times.
std::shared_ptr<Model> nested_ifs(int depth) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 18}};
  Graph* g = model->graph.get();
  Value* c = g->add_input("c", Type::tensor(DType::kBool, Dims()));
  Value* x = g->add_input("x", floats({2}));
  for (int i = 0; i < depth; ++i) {
    auto inner = std::make_shared<Graph>(), other = std::make_shared<Graph>();
    inner->set_parent(g);
    other->set_parent(g);
    other->outputs = {x};
    Value* y = g->add_value("y" + std::to_string(i));
    g->add_node("If", {c}, {y}, {{"then_branch", inner}, {"else_branch", other}});
    g->outputs = {y};
    g = inner.get();
  }
  Value* twice = g->add_value("twice");
  g->add_node("Add", {x, x}, {twice});
  g->outputs = {twice};
  return model;
}

TEST(InterpreterDepth, EvaluatesAsDeepAsFilesGo) {
  Net net;
  net.model = nested_ifs(32);
  EXPECT_TRUE(net.run({Tensor::scalar(true), kOnes})[0][0].identical(Tensor::vector<double>({2, 2})));
}

TEST(InterpreterDepth, RefusesWhatNestsDeeper) {
  for (const int depth : {33, 10000}) {
    const std::shared_ptr<Model> model = nested_ifs(depth);
    EXPECT_THROW(Interpreter{model}, Error) << depth;
  }
}

}  // namespace
}  // namespace assay::container_test
