// Extents that vary between runs: one plan serves them
// all if most of the network does not depend on them.
#include <gtest/gtest.h>

#include <set>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "engine/specialize/decoder_test_util.h"
#include "engine/specialize/executable.h"
#include "graph/clone.h"
#include "graph/order.h"

namespace assay::growing_cache_test {
namespace {

class GrowingCache : public testing::Test {
 protected:
  std::shared_ptr<Engine> build(const engine::TestDecoder& decoder, int64_t least = 1, int64_t most = 99) {
    OptimizationProfile profile;
    const std::vector<Tensor> low = decoder.inputs(least), high = decoder.inputs(most);
    for (size_t i = 0; i < low.size(); ++i)
      profile.set_shape(decoder.g.inputs[i]->name(), low[i].shape(), low[i].shape(), high[i].shape());
    BuilderConfig config{.optimization_level = 0};
    config.profiles = {profile};
    return Builder(runtime).build_engine(decoder.model, config);
  }
  /// From an engine for these shapes alone.
  std::vector<Tensor> expected(const engine::TestDecoder& decoder, int64_t past) {
    return build(decoder, past, past)->create_execution_context()->infer(decoder.inputs(past));
  }
  static void expect_near(const std::vector<Tensor>& a, const std::vector<Tensor>& b, int64_t past) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].shape(), b[i].shape()) << i << " at " << past;
      for (int64_t j = 0; j < a[i].numel(); ++j)
        ASSERT_NEAR(a[i].data<float>()[j], b[i].data<float>()[j], 1e-5) << i << " at " << past;
    }
  }
  static size_t plans_of(const Engine& engine) { return engine.state().plans->plan_count(); }

  Runtime runtime{{.threads = 2}};
};

TEST_F(GrowingCache, OnePlanServesAllLengths) {
  const engine::TestDecoder decoder(4);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (const int64_t past : {8, 9, 10, 11, 12, 30, 2, 13, 99, 1})
    expect_near(context->infer(decoder.inputs(past)), expected(decoder, past), past);
  // The profile's, those of the first two lengths, and one for all.
  EXPECT_EQ(plans_of(*engine), 4U);
}

/// Of a running sum over the open extent the last element is one, however long it is.
TEST_F(GrowingCache, PositionsOfAMask) {
  const engine::TestDecoder decoder(4, /*counts=*/true);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (const int64_t past : {8, 9, 10, 11, 12, 30, 2, 13, 99, 1})
    expect_near(context->infer(decoder.inputs(past)), expected(decoder, past), past);
  EXPECT_EQ(plans_of(*engine), 4U);
  EXPECT_GT(engine->state().plans->built().parts, 0U);
}

/// The attention is planned for a length, once for all layers; what reads no more of a cache than its length,
/// as masks do, is not.
TEST_F(GrowingCache, AMaskIsNotPlannedForEachLength) {
  const engine::TestDecoder decoder(4);
  Graph& g = decoder.g;
  Value* mask = g.find_value("Mul");
  const std::vector<Node*> readers = mask->consumers();
  const auto add = [&](const char* op, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* v = g.add_value(g.unique_name(op));
    g.add_node(op, std::move(inputs), {v}, std::move(attributes));
    return v;
  };
  Value* past = add("Shape", {g.inputs[2]}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  Value* total = add("Add", {past, g.add_constant("one", Tensor::vector<int64_t>({1}))});
  Value* whole = add("Add", {mask, add("ConstantOfShape", {total})});
  for (Node* n : readers)
    for (size_t i = 0; i < n->inputs().size(); ++i)
      if (n->input(i) == mask) n->set_input(i, whole);
  sort_topologically(g);
  infer_shapes(*decoder.model);
  const auto engine = build(decoder, 1, 2099);
  const auto context = engine->create_execution_context();
  for (const int64_t length : {1000, 1001, 1002, 1003}) context->infer(decoder.inputs(length));
  const auto parts = [&]() -> size_t { return engine->state().plans->built().parts; };
  const size_t before = parts();
  for (int64_t length = 1004; length < 1014; ++length) context->infer(decoder.inputs(length));
  EXPECT_EQ(parts() - before, 10U);
}

/// One plan serves all lengths for elements that determine shapes, as long as these stay.
TEST_F(GrowingCache, ElementsThatDetermineShapes) {
  const engine::TestDecoder decoder(4);
  Graph& g = decoder.g;
  Value* count = g.add_input("count", Type::tensor(DType::kInt64, Shape{1}));
  Value* zeros = g.add_value("zeros");
  g.add_node("ConstantOfShape", {count}, {zeros});
  g.outputs.push_back(zeros);
  infer_shapes(*decoder.model);
  BuilderConfig config{.optimization_level = 0};
  config.is_lazy = true;
  const auto engine = Builder(runtime).build_engine(decoder.model, config);
  const auto context = engine->create_execution_context();
  const auto run = [&](int64_t past, int64_t number) {
    std::vector<Tensor> inputs = decoder.inputs(past);
    inputs.back() = Tensor::vector<int64_t>({number});
    EXPECT_EQ(context->infer(inputs).back().shape(), (Shape{number})) << past;
  };
  for (int64_t past = 8; past < 13; ++past) run(past, 3);
  const size_t plans = plans_of(*engine);
  for (int64_t past = 13; past < 30; ++past) run(past, 3);
  EXPECT_EQ(plans_of(*engine), plans);
  run(30, 5);
  run(31, 3);
  EXPECT_EQ(plans_of(*engine), plans + 1);
}

/// A body that reads the outer graph's inputs.
std::shared_ptr<Graph> branch_of(const Graph& decoder, Graph& outer) {
  ValueMap map;
  std::shared_ptr<Graph> body = clone_graph(decoder, &outer, map);
  for (size_t i = 0; i < body->inputs.size(); ++i)
    for (const auto& n : body->nodes())
      for (size_t at = 0; at < n->inputs().size(); ++at)
        if (n->input(at) == body->inputs[i]) n->set_input(at, outer.inputs[i]);
  body->inputs.clear();
  return body;
}

/// Exporters merge the step without a cache and that with one: an input says which is to run.
TEST_F(GrowingCache, BranchesOfAMergedDecoder) {
  const engine::TestDecoder decoder(3);
  const auto model = std::make_shared<Model>();
  model->opsets = decoder.model->opsets;
  Graph& g = *model->graph;
  for (const Value* v : decoder.g.inputs) g.add_input(v->name(), v->type);
  Value* uses_cache = g.add_input("use_cache_branch", Type::tensor(DType::kBool, Shape{}));
  for (const Value* v : decoder.g.outputs) g.outputs.push_back(g.add_value(v->name()));
  g.add_node("If", {uses_cache}, g.outputs,
             {{"then_branch", branch_of(decoder.g, g)}, {"else_branch", branch_of(decoder.g, g)}}, "if");
  infer_shapes(*model);
  BuilderConfig config{.optimization_level = 0};
  config.is_lazy = true;
  const auto engine = Builder(runtime).build_engine(model, config);
  const auto context = engine->create_execution_context();
  const auto run = [&](int64_t past) {
    std::vector<Tensor> inputs = decoder.inputs(past);
    inputs.push_back(Tensor::scalar(past % 2 == 0));
    expect_near(context->infer(inputs), expected(decoder, past), past);
  };
  for (int64_t past = 8; past < 14; ++past) run(past);
  const size_t plans = plans_of(*engine), whole = engine->state().plans->built().whole;
  for (int64_t past = 14; past < 30; ++past) run(past);
  EXPECT_EQ(plans_of(*engine), plans);
  EXPECT_EQ(engine->state().plans->built().whole, whole);
}

TEST_F(GrowingCache, ShapesThatComeOftenGetAPlanOfTheirOwn) {
  const engine::TestDecoder decoder(4);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (const int64_t past : {8, 9, 10}) context->infer(decoder.inputs(past));
  for (int i = 0; i < engine::Executable::kOften; ++i) {
    EXPECT_EQ(plans_of(*engine), 4U) << i;
    context->infer(decoder.inputs(20));
  }
  EXPECT_EQ(plans_of(*engine), 5U);
  expect_near(context->infer(decoder.inputs(20)), expected(decoder, 20), 20);
  expect_near(context->infer(decoder.inputs(21)), expected(decoder, 21), 21);
  EXPECT_EQ(plans_of(*engine), 5U);
}

TEST_F(GrowingCache, TapsShowAllValues) {
  const engine::TestDecoder decoder(4);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (const int64_t past : {8, 9, 10}) context->infer(decoder.inputs(past));
  std::set<std::string> usual, seen;
  const auto alone = build(decoder, 11, 11)->create_execution_context();
  alone->set_tap([&](const std::string& name, const Tensor&) { usual.insert(name); });
  alone->infer(decoder.inputs(11));
  context->set_tap([&](const std::string& name, const Tensor&) { seen.insert(name); });
  context->infer(decoder.inputs(11));
  EXPECT_EQ(seen, usual);
}

TEST_F(GrowingCache, BoundMemoryAndShapesBeforeTheRun) {
  const engine::TestDecoder decoder(4);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (int64_t past = 5; past < 15; ++past) {
    const std::vector<Tensor> inputs = decoder.inputs(past);
    for (size_t i = 0; i < inputs.size(); ++i)
      context->set_input_shape(decoder.g.inputs[i]->name(), inputs[i].shape());
    std::vector<Tensor> outputs;
    for (const Value* v : decoder.g.outputs) {
      const auto shape = context->tensor_shape(v->name());
      ASSERT_TRUE(shape) << v->name() << " at " << past;
      outputs.push_back(Tensor::zeros(DType::kFloat32, *shape));
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      context->set_input_address(decoder.g.inputs[i]->name(), inputs[i].data(), inputs[i].nbytes());
    for (size_t i = 0; i < outputs.size(); ++i)
      context->set_tensor_address(decoder.g.outputs[i]->name(), outputs[i].mutable_data(),
                                  outputs[i].nbytes());
    context->execute();
    expect_near(outputs, expected(decoder, past), past);
  }
  EXPECT_EQ(plans_of(*engine), 4U);
}

/// Where nearly all depends on the open extent, one plan would save nothing.
TEST_F(GrowingCache, ANetworkThatIsAllOpenIsPlannedForEachLength) {
  const engine::TestDecoder decoder(1);
  Graph& g = decoder.g;
  const size_t outputs = g.outputs.size();
  for (Value* v : {g.outputs[1], g.outputs[2]}) {
    for (int i = 0; i < 20; ++i) {
      Value* next = g.add_value(g.unique_name("next"));
      g.add_node(i % 2 == 0 ? "Softmax" : "Tanh", {v}, {next});
      v = next;
    }
    g.outputs.push_back(v);
  }
  infer_shapes(*decoder.model);
  const auto engine = build(decoder);
  const auto context = engine->create_execution_context();
  for (int64_t past = 5; past < 15; ++past)
    EXPECT_EQ(context->infer(decoder.inputs(past)).size(), outputs + 2);
  EXPECT_EQ(plans_of(*engine), 11U);
}

}  // namespace
}  // namespace assay::growing_cache_test
