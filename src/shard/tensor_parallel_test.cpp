#include "shard/tensor_parallel.h"

#include <gtest/gtest.h>

#include <numeric>

#include "assay/error.h"
#include "base/log.h"
#include "shard/node_search.h"

namespace assay::tensor_parallel_test {
namespace {

Tensor numbers(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  std::iota(t.mutable_span<float>().begin(), t.mutable_span<float>().end(), 0.0F);
  return t;
}

/// A gated MLP: x -> gate, up -> h -> y.
std::shared_ptr<Model> mlp(int64_t width, bool is_gated = true) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type type = Type::tensor(DType::kFloat32);
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{3, 4}));
  const auto add = [&](const char* op, std::vector<Value*> in, const char* name) {
    Value* out = g.add_value(name, type);
    g.add_node(op, std::move(in), {out}, {}, std::string("n_") + name);
    return out;
  };
  Value* gate = add("MatMul", {x, g.add_constant("wg", numbers({4, width}))}, "gate");
  Value* silu = add("Mul", {gate, add("Sigmoid", {gate}, "sig")}, "silu");
  Value* up = add("MatMul", {x, g.add_constant("wu", numbers({4, width}))}, "up");
  Value* h = is_gated ? add("Mul", {silu, up}, "h") : silu;
  Value* y = add("MatMul", {h, g.add_constant("wd", numbers({width, 4}))}, "y");
  y->type = Type::tensor(DType::kFloat32, Shape{3, 4});
  g.outputs = {y};
  return m;
}

ShardHints ranks(int64_t count) {
  ShardHints hints{.parallelism = Parallelism::kTensor};
  hints.dist_collectives.nb_rank = count;
  return hints;
}

TEST(TensorParallel, EachRankHasItsPart) {
  const auto m = mlp(6);
  const log::Capture quiet;
  ShardNames names(*m->graph);
  const WeightSlices slices = shard_tensors(*m, ranks(3), names);
  EXPECT_EQ(m->graph->outputs[0]->name(), "y");
  EXPECT_EQ(m->graph->find_value("wg")->tensor().shape(), (Shape{4, 6}));
  const auto last = rank_model(*m, slices, 2);
  const Tensor wg = last->graph->find_value("wg")->tensor().aligned(),
               wd = last->graph->find_value("wd")->tensor().aligned();
  EXPECT_EQ(wg.shape(), (Shape{4, 2}));
  EXPECT_EQ(wg.span<float>()[2], 10.0F);  // row 1, column 4 of the whole
  EXPECT_EQ(wd.shape(), (Shape{2, 4}));
  EXPECT_EQ(wd.span<float>()[0], 16.0F);
}

TEST(TensorParallel, ExtentsThatCannotBeDivided) {
  const auto m = mlp(6);
  const log::Capture quiet;
  ShardNames names(*m->graph);
  EXPECT_THROW(shard_tensors(*m, ranks(4), names), Error);
}

TEST(TensorParallel, ASigmoidThatIsNoGateIsLeftAlone) {
  const auto m = mlp(6, false);
  const log::Capture capture;
  ShardNames names(*m->graph);
  EXPECT_THROW(shard_tensors(*m, ranks(2), names), Error);  // and nothing else is there
  EXPECT_NE(capture.out().find("left as it is"), std::string::npos);
}

TEST(WeightSlices, AWeightThatIsUsedAsAWholeStays) {
  const auto m = mlp(6);
  Graph& g = *m->graph;
  Value* z = g.add_value("z", Type::tensor(DType::kFloat32));
  g.add_node("Relu", {g.find_value("wg")}, {z}, {}, "other");
  g.outputs.push_back(z);
  const log::Capture quiet;
  ShardNames names(g);
  const WeightSlices slices = shard_tensors(*m, ranks(2), names);
  const auto first = rank_model(*m, slices, 0);
  EXPECT_EQ(first->graph->find_value("wg")->tensor().shape(), (Shape{4, 6}));
  EXPECT_EQ(first->graph->find_value("wg_shard")->tensor().shape(), (Shape{4, 3}));
}

TEST(NodeSearch, ADeepGraphOfManyWaysIsSearchedOnce) {
  Graph g;
  const Type type = Type::tensor(DType::kFloat32);
  Value* v = g.add_input("x", type);
  const Value* first = v;
  for (int i = 0; i < 60; ++i) {  // two ways at each step
    Value *a = g.add_value("a" + std::to_string(i), type), *b = g.add_value("b" + std::to_string(i), type);
    g.add_node("Relu", {v}, {a});
    g.add_node("Add", {a, v}, {b});
    v = b;
  }
  const NodeSearch search(g);
  EXPECT_EQ(search.before(v, "MatMul", 60), nullptr);
  EXPECT_EQ(search.after(first, "MatMul", 60), nullptr);
}

}  // namespace
}  // namespace assay::tensor_parallel_test
