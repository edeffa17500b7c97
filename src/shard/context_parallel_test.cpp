#include "shard/context_parallel.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"
#include "shard/suggest.h"

namespace assay::context_parallel_test {
namespace {

/// Attention of three inputs (or of x alone), and Relu behind it; `length` is the extent of the sequence.
std::shared_ptr<Model> attention(const Dim& length, bool one_input = false, bool has_middle_output = false) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type type = Type::tensor(DType::kFloat32, Dims{2, length, 4});
  Value* q = g.add_input("q", type);
  Value* k = one_input ? q : g.add_input("k", type);
  Value* v = one_input ? q : g.add_input("v", type);
  const auto add = [&](const char* op, std::vector<Value*> in, const char* name,
                       AttributeList attributes = {}) {
    Value* out = g.add_value(name, Type::tensor(DType::kFloat32));
    g.add_node(op, std::move(in), {out}, std::move(attributes), std::string("n_") + name);
    return out;
  };
  Value* transposed = one_input ? k : add("Transpose", {k}, "kt", {{"perm", std::vector<int64_t>{0, 2, 1}}});
  Value* o = add("MatMul", {add("Softmax", {add("MatMul", {q, transposed}, "s")}, "p"), v}, "o");
  Value* y = add("Relu", {o}, "y");
  y->type = type;
  g.outputs = {y};
  if (has_middle_output) {
    o->type = type;
    g.outputs.push_back(o);
  }
  return m;
}

void shard(Model& m, HintOptions options = {}) {
  const log::Capture quiet;
  ShardNames names(*m.graph);
  options.k_idx = 2;
  options.v_idx = 1;
  options.i_idx = options.o_idx = 1;
  shard_context(m, suggest_hints(*m.graph, options), 0, names);
}

int64_t count(const Graph& g, std::string_view operation) {
  int64_t n = 0;
  for (const auto& node : g.nodes()) {
    const Attribute* a = node->find_attribute("collective_operation");
    n += node->op_type == operation || (a != nullptr && *a->get_if<std::string>() == operation) ? 1 : 0;
  }
  return n;
}

HintOptions ranks(int64_t count) {
  HintOptions options;
  options.collectives.nb_rank = count;
  return options;
}

TEST(ContextParallel, InputsAreScatteredAndOutputsGathered) {
  const auto m = attention(Dim::symbol("sequence_length"));
  shard(*m);
  EXPECT_EQ(count(*m->graph, "reduce_scatter"), 3);
  EXPECT_EQ(count(*m->graph, "all_gather"), 3);
  EXPECT_EQ(m->graph->outputs[0]->name(), "y");
  EXPECT_EQ(m->graph->outputs[0]->producer()->op_type, "Transpose");
}

TEST(ContextParallel, NodesAreSorted) {
  const auto m = attention(8);
  shard(*m, ranks(2));
  std::unordered_set<const Value*> known(m->graph->inputs.begin(), m->graph->inputs.end());
  for (const auto& n : m->graph->nodes()) {
    for (const Value* v : n->inputs()) EXPECT_TRUE(known.contains(v)) << n->label();
    known.insert(n->outputs().begin(), n->outputs().end());
  }
}

TEST(ContextParallel, ShapesAreThoseOfAPart) {
  const auto m = attention(8);
  m->graph->find_value("kt")->type = Type::tensor(DType::kFloat32, Shape{2, 4, 8});
  m->graph->find_value("s")->type = Type::tensor(DType::kFloat32, Shape{2, 8, 8});
  shard(*m, ranks(2));
  EXPECT_EQ(m->graph->find_value("s")->type.str(), Type::tensor(DType::kFloat32, Shape{2, 4, 8}).str());
  EXPECT_EQ(m->graph->outputs[0]->type.str(), Type::tensor(DType::kFloat32, Shape{2, 8, 4}).str());
}

TEST(ContextParallel, AnOutputOnTheWayStaysAPartForOthers) {
  const auto m = attention(8, false, true);
  shard(*m, ranks(2));
  EXPECT_EQ(count(*m->graph, "all_gather"), 4);
  EXPECT_EQ(m->graph->outputs[1]->name(), "o");
  for (const auto& n : m->graph->nodes())
    if (n->op_type == "Relu") {
      EXPECT_EQ(n->input(0)->producer()->op_type, "MatMul");
    }
}

TEST(ContextParallel, WhatIsWholeIsNotGatheredAgain) {
  const auto m = attention(4, true);
  const log::Capture quiet;
  ShardNames names(*m->graph);
  ShardHints hints = suggest_hints(*m->graph, ranks(2));
  hints.inputs[0].seq_len_idx = 1;
  hints.k_seq_len_idx = hints.v_seq_len_idx = 1;
  shard_context(*m, hints, 0, names);
  EXPECT_EQ(count(*m->graph, "reduce_scatter"), 1);
  EXPECT_EQ(count(*m->graph, "all_gather"), 1);
}

TEST(ContextParallel, FusedLayersLeaveNothingBehind) {
  const auto m = attention(Dim::symbol("seq_len"));
  HintOptions options = ranks(2);
  options.fused = FusedAttention{.is_causal = true, .k_shuffle = Permutation{0, 2, 1}, .nb_rank = 2};
  shard(*m, options);
  EXPECT_EQ(count(*m->graph, "Attention"), 1);
  EXPECT_EQ(count(*m->graph, "MatMul") + count(*m->graph, "Softmax"), 0);
  EXPECT_EQ(count(*m->graph, "all_gather"), 1);
}

TEST(ContextParallel, NamesThatExistArePassedOver) {
  const auto m = attention(8);
  m->graph->find_value("p")->rename("shard_3");
  shard(*m, ranks(2));
  EXPECT_EQ(m->graph->find_value("shard_3")->producer()->op_type, "Softmax");
}

TEST(ContextParallel, NothingComesBetweenTheNodesOfALayer) {
  const auto m = attention(8);
  const log::Capture quiet;
  ShardNames names(*m->graph);
  ShardHints hints = suggest_hints(*m->graph, ranks(2));
  hints.inputs[0].name = "s";
  EXPECT_THROW(shard_context(*m, hints, 0, names), Error);
}

TEST(ContextParallel, AGatheredQMeetsNoParts) {
  const auto m = attention(8);
  Graph& g = *m->graph;
  Value* z = g.add_value("z", g.outputs[0]->type);
  g.add_node("Add", {g.outputs[0], g.find_value("q")}, {z}, {}, "residual");
  g.outputs = {z};
  const log::Capture quiet;
  ShardNames names(g);
  HintOptions options = ranks(2);
  options.i_idx = options.o_idx = 1;
  ShardHints hints = suggest_hints(g, options);
  hints.attention_layers[0].gather_q = true;
  EXPECT_THROW(shard_context(*m, hints, 0, names), Error);
}

}  // namespace
}  // namespace assay::context_parallel_test
