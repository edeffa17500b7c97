#include "arbiter/unroll.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "graph/clone.h"
#include "graph/import.h"
#include "graph/read.h"
#include "reference/reference_test_util.h"
#include "tensor/value_tensors.h"

namespace assay::unroll_test {
namespace {

/// What a backend does to the model that it gets.
using Fault = std::function<void(Graph&)>;

/// The body of the main graph's first node that has one.
Graph& body_of(Graph& g, const char* name = "body") {
  for (const auto& n : g.nodes())
    if (graph_attribute(*n, name) != nullptr)
      return **n->find_attribute(name)->get_if<std::shared_ptr<Graph>>();
  throw std::runtime_error("no body");
}

void change(Graph& g, const std::string& constant, float factor) {
  Value* v = g.find_value(constant);
  Tensor t = v->tensor().aligned();
  for (float& x : t.mutable_span<float>()) x *= factor;
  v->set_tensor(t);
}

struct Trial {
  std::shared_ptr<const Model> model;
  OpenedModel opened;
  StoredTensorList results;
  Arbitration verdict;

  Trial(const char* text, std::vector<Tensor> feed, const Fault& fault = {}) {
    const std::shared_ptr<Model> parsed = parse_text(text, "the text");
    infer_shapes(*parsed);
    std::vector<Value*> all;
    for (const auto& n : parsed->graph->nodes())
      for (Value* v : n->outputs())
        if (v != nullptr) all.push_back(v);
    parsed->graph->outputs = all;
    model = parsed;
    std::vector<const Node*> nodes;
    for (const auto& n : model->graph->nodes()) nodes.push_back(n.get());
    opened = open_bodies(model, nodes);
    const std::shared_ptr<Model> suspect = clone_model(*opened.model);
    if (fault) fault(*suspect->graph);
    infer_shapes(*suspect);
    Interpreter(suspect, {.precision = ReferencePrecision::kStored})
        .run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
          for_each_tensor(v.name(), lanes[0], [&](const std::string& name, Tensor t) {
            results.push_back({name, std::move(t)});
          });
        });
    const ArbiterCase c{"runner", &results};
    verdict = arbitrate_opened(opened, feed, {&c, 1});
  }

  /// Each wrong one as `output@body`.
  std::vector<std::string> wrong() const {
    std::vector<std::string> list;
    for (const ArbiterVerdict& o : verdict.outputs)
      if (o.verdict == Verdict::kWrong) list.push_back(o.output + (o.body.empty() ? "" : "@" + o.body));
    return list;
  }
  bool knows(const std::string& output, const std::string& body) const {
    return std::any_of(verdict.outputs.begin(), verdict.outputs.end(), [&](const ArbiterVerdict& o) {
      return o.output == output && o.body == body && o.verdict != Verdict::kNotJudged;
    });
  }
};

using Words = std::vector<std::string>;

constexpr const char* kLoop = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y, float[N,4] ys) <int64 three = {3}, bool yes = {1}> {
  [loop] y, ys = Loop <body: graph = b (int64 i, bool go, float[4] s) => (bool more, float[4] t, float[4] out)
    <float[4] w = {0.5, -0.25, 1.5, 0.75}> {
    more = Identity (go)
    [mul] h = Mul (s, w)
    [tanh] t = Tanh (h)
    [out] out = Add (t, h)
  }>(three, yes, x)
})";

const std::vector<Tensor> kFeed{Tensor::vector<float>({0.3F, -1.25F, 0.7F, 2.0F})};

TEST(Unroll, EachIterationIsJudged) {
  const Trial run(kLoop, kFeed);
  EXPECT_EQ(run.wrong(), Words());
  for (int i = 0; i < 3; ++i)
    for (const char* name : {"h", "t", "out"})
      EXPECT_TRUE(run.knows(name, fmt::format("iteration {} of 'loop' (Loop)", i))) << name << i;
  EXPECT_TRUE(run.knows("ys", ""));
}

TEST(Unroll, TheMakerInABodyIsNamedWithItsIterations) {
  const Trial run(kLoop, kFeed, [](Graph& g) { change(body_of(g), "w", 1.001F); });
  EXPECT_EQ(run.wrong(), (Words{"h@iteration 0 of 'loop' (Loop)", "h@iteration 1 of 'loop' (Loop)",
                                "h@iteration 2 of 'loop' (Loop)"}));
  const auto maker = std::find_if(run.verdict.outputs.begin(), run.verdict.outputs.end(),
                                  [](const auto& o) { return o.verdict == Verdict::kWrong; });
  EXPECT_EQ(maker->node, "'mul' (Mul)");
  EXPECT_EQ(maker->enclosing, "y");
  EXPECT_EQ(maker->inputs, Words{"x"});
}

TEST(Unroll, WhatTheNodeMakesOfItsBodyIsJudgedToo) {
  Trial run(kLoop, kFeed);
  for (NamedStoredTensor& t : run.results)
    if (t.name == "ys" || t.name == "y") {
      Tensor changed = t.tensor.load();
      std::swap(changed.mutable_data<float>()[0], changed.mutable_data<float>()[3]);
      t.tensor = changed;
    }
  const ArbiterCase c{"runner", &run.results};
  run.verdict = arbitrate_opened(run.opened, kFeed, {&c, 1});
  EXPECT_EQ(run.wrong(), (Words{"y", "ys"}));
}

TEST(Unroll, ALoopThatStopsTooEarlyIsAFinding) {
  const Trial run(kLoop, kFeed,
                  [](Graph& g) { g.find_value("three")->set_tensor(Tensor::scalar(int64_t{2})); });
  ASSERT_EQ(run.wrong(), Words{"y"});
  EXPECT_EQ(run.verdict.outputs.back().problem,
            "it ran 2 iterations, but its own conditions and limit ask for more");
}

constexpr const char* kNested = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] y) <int64 three = {3}, int64 two = {2}, float[2,2] w = {1, 0.5, -0.25, 0.75}> {
  [outer] y = Loop <body: graph = b (int64 i, bool go, float[2,2] s) => (bool more, float[2,2] t) {
    more = Identity (go)
    [late] late = Less (i, two)
    [if] r = If (late) <then_branch: graph = th () => (float[2,2] a) { [product] a = MatMul (s, w) },
                        else_branch: graph = el () => (float[2,2] c) <float k = {0.3}> { [scaled] c = Mul (s, k) }>
    [inner] t = Loop <body: graph = d (int64 j, bool go2, float[2,2] u) => (bool more2, float[2,2] v)
      <float k2 = {1.25}> {
      more2 = Identity (go2)
      [grow] v = Mul (u, k2)
    }>(two, "", r)
  }>(three, "", x)
})";

TEST(Unroll, BodiesInBodies) {
  const std::vector<Tensor> feed{Tensor::from<float>({2, 2}, {0.3F, -1.25F, 0.7F, 2.0F})};
  const Trial run(kNested, feed);
  EXPECT_EQ(run.wrong(), Words());
  EXPECT_TRUE(run.knows("a", "branch of 'if' (If), iteration 1 of 'outer' (Loop)"));
  EXPECT_TRUE(run.knows("c", "branch of 'if' (If), iteration 2 of 'outer' (Loop)"));
  EXPECT_TRUE(run.knows("v", "iteration 1 of 'inner' (Loop), iteration 2 of 'outer' (Loop)"));
  const Trial branch(kNested, feed, [](Graph& g) { change(body_of(body_of(g), "else_branch"), "k", 1.01F); });
  EXPECT_EQ(branch.wrong(), Words{"c@branch of 'if' (If), iteration 2 of 'outer' (Loop)"});
  const Trial inner(kNested, feed, [](Graph& g) { change(body_of(body_of(g)), "k2", 1.01F); });
  EXPECT_EQ(inner.wrong().size(), 6U);
  EXPECT_EQ(inner.wrong()[0], "v@iteration 0 of 'inner' (Loop), iteration 0 of 'outer' (Loop)");
}

TEST(Unroll, ShapesThatGrowAndSequences) {
  const std::vector<Tensor> feed{Tensor::vector<float>({0.5F, -2.0F})};
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[N] x) => (float[M] y, seq(float) list) <int64 three = {3}> {
  none = SequenceEmpty ()
  [loop] y, list = Loop <body: graph = b (int64 i, bool go, float[K] s, seq(float) l) => (bool more, float[L] t, seq(float) l2)
    <float k = {0.7}> {
    more = Identity (go)
    [scale] h = Mul (s, k)
    [join] t = Concat <axis = 0> (s, h)
    [put] l2 = SequenceInsert (l, h)
  }>(three, "", x, none)
})";
  const Trial run(text, feed);
  EXPECT_EQ(run.wrong(), Words());
  EXPECT_TRUE(run.knows("h", "iteration 2 of 'loop' (Loop)"));
  const Trial faulty(text, feed, [](Graph& g) { change(body_of(g), "k", 1.01F); });
  EXPECT_EQ(faulty.wrong()[0], "h@iteration 0 of 'loop' (Loop)");
  EXPECT_EQ(faulty.wrong().size(), 3U);
}

TEST(Unroll, ScansInBothDirections) {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2] s, float[3,2] x, float[2,3] z) => (float[2] end, float[3,2] a, float[2,3] b) {
  [scan] end, a, b = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1],
                           scan_output_axes = [0, 1], scan_output_directions = [1, 0],
    body: graph = f (float[2] p, float[2] q, float[2] r) => (float[2] p2, float[2] o1, float[2] o2)
    <float k = {0.7}> {
    [mul] m = Mul (p, k)
    [add] p2 = Add (m, q)
    [sub] o1 = Sub (p2, r)
    [tan] o2 = Tanh (o1)
  }>(s, x, z)
})";
  const std::vector<Tensor> feed{random_floats({2}, 1), random_floats({3, 2}, 2), random_floats({2, 3}, 3)};
  EXPECT_EQ(Trial(text, feed).wrong(), Words());
  const Trial faulty(text, feed, [](Graph& g) { change(body_of(g), "k", 1.01F); });
  ASSERT_EQ(faulty.wrong().size(), 3U);
  EXPECT_EQ(faulty.wrong()[2], "m@iteration 2 of 'scan' (Scan)");
}

TEST(Unroll, ALoopWithoutIterationsStaysWhole) {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) <int64 none = {0}> {
  [loop] y = Loop <body: graph = b (int64 i, bool go, float[4] s) => (bool more, float[4] t) {
    more = Identity (go)
    t = Tanh (s)
  }>(none, "", x)
})";
  const Trial run(text, kFeed);
  EXPECT_EQ(run.wrong(), Words());
  EXPECT_EQ(run.verdict.outputs.size(), 1U);
}

}  // namespace
}  // namespace assay::unroll_test
