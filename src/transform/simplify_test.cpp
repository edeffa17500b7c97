#include "transform/simplify.h"

#include <gtest/gtest.h>

#include "graph/import.h"
#include "ops/infer.h"
#include "passes/graph_summary_test_util.h"

namespace assay::simplify_test {
namespace {

std::shared_ptr<Model> parsed(const std::string& text, int64_t opset = 17, int64_t ir = 8) {
  return parse_text("<ir_version: " + std::to_string(ir) +
                        ", opset_import: [\"\" : " + std::to_string(opset) + ", \"local\" : 1]>\n" + text,
                    "test");
}

std::string simplified(const std::string& text, int64_t opset = 17) {
  const std::shared_ptr<Model> model = parsed(text, opset);
  simplify(*model);
  return summary_of(*model->graph);
}

TEST(Simplify, ShapeArithmeticOfAnOpenBatchFolds) {
  EXPECT_EQ(
      simplified(
          "g (float[N,4,6] x) => (float[N,24] y) <int64 zero = {0}, int64[1] axis = {0}, int64[1] rest = "
          "{-1}> "
          "{ s = Shape (x) b = Gather (s, zero) u = Unsqueeze (b, axis) t = Concat <axis = 0> (u, rest) "
          "y = Reshape (x, t) }"),
      "y = Reshape(x, {0, 24})");
}

TEST(Simplify, AnExtentWithoutANameIsOneToo) {
  const std::shared_ptr<Model> model = parsed(
      "g (float[?,4,6] x) => (float[?,24] y) <int64 zero = {0}, int64[1] axis = {0}, int64[1] rest = {24}> "
      "{ s = Shape (x) b = Gather (s, zero) u = Unsqueeze (b, axis) t = Concat <axis = 0> (u, rest) y = "
      "Reshape (x, t) }");
  simplify(*model);
  EXPECT_EQ(summary_of(*model->graph), "y = Reshape(x, {0, 24})");
  EXPECT_EQ(model->graph->inputs[0]->type.str(), "float32[?, 4, 6]");
  EXPECT_EQ(model->graph->outputs[0]->type.str(), "float32[?, 24]");
}

TEST(Simplify, DeclaredExtentsOfIntermediateValuesCountForNothing) {
  // The file declares the type of x for h, wrongly.
  EXPECT_EQ(simplified("g (float[N,M] x, float[K,L] z) => (float[N,M] y) <float[N,M] h> "
                       "{ s = Shape (x) h = Neg (z) y = Reshape (h, s) }"),
            "Shape(x); Neg(z); y = Reshape(%1, %0)");
}

TEST(Simplify, ConstantsThatPassesMakeHaveShortNames) {
  const std::shared_ptr<Model> model = parsed(
      "g (float[2] c0) => (float[2] y) <float two = {2}, float three = {3}> "
      "{ p = Mul (c0, two) y = Mul (p, three) }");
  simplify(*model);
  ASSERT_EQ(summary_of(*model->graph), "y = Mul(c0, 6)");
  EXPECT_EQ(model->graph->nodes()[0]->input(1)->name(), "c1");
}

TEST(Simplify, BodiesOfControlFlow) {
  EXPECT_EQ(simplified("g (bool c, float[2] x) => (float[2] y) { y = If (c) <"
                       "then_branch = t () => (float[2] p) { a = Identity (x) b = Relu (a) p = Relu (b) }, "
                       "else_branch = e () => (float[2] q) { k = Constant <value_float: float = 1.0> () q = "
                       "Div (x, k) }> }"),
            "y = If<then_branch={p = Relu(x)}, else_branch={q = Div(x, 1)}>(c)");
}

TEST(Simplify, LocalFunctions) {
  const std::shared_ptr<Model> model = parsed(
      "g (float[2] x) => (float[2] y) { y = local.f (x) } <domain: \"local\", opset_import: [\"\" : 17]> "
      "f (a) => (b) { i = Identity (a) r = Relu (i) k = Constant <value_float: float = 2.0> () m = Relu (r) "
      "b = Mul (m, k) }");
  simplify(*model);
  const Graph& body = *model->functions.at(0).body;
  ASSERT_EQ(body.nodes().size(), 3u);  // with the Constant
  EXPECT_EQ(body.nodes().back()->op_type, "Mul");
}

TEST(Simplify, AFunctionWithParametersIsLeftAlone) {
  const std::shared_ptr<Model> model = parsed(
      "g (float[2] x) => (float[2] y) { y = local.f <k: int = 1> (x) } <domain: \"local\", opset_import: "
      "[\"\" : 17]> "
      "f <k> (a) => (b) { i = Identity (a) b = Cast <to = @k> (i) }");
  simplify(*model);
  EXPECT_EQ(model->functions.at(0).body->nodes().size(), 2u);
}

TEST(Simplify, WhatACallerMayReplaceStays) {
  const std::shared_ptr<Model> model =
      parsed("g (float[2] x) => (float[2] y) <float[2] w = {0, 0}> { y = Add (x, w) }");
  model->graph->find_value("w")->is_overridable = true;
  simplify(*model);
  EXPECT_EQ(summary_of(*model->graph), "y = Add(x, {0, 0})");
  EXPECT_TRUE(model->graph->find_value("w")->is_overridable);
}

TEST(Simplify, AnOperatorOfALaterOpsetIsNotUsed) {
  const char* gelu =
      "g (float[4] x) => (float[4] y) <float root = {1.41421356}, float one = {1}, float half = {0.5}> "
      "{ a = Div (x, root) e = Erf (a) s = Add (e, one) m = Mul (x, s) y = Mul (m, half) }";
  EXPECT_EQ(simplified(gelu, 20), "y = Gelu(x)");
  EXPECT_EQ(simplified(gelu, 19).find("Gelu"), std::string::npos);
}

TEST(Simplify, ReportsWhatItDid) {
  const std::shared_ptr<Model> model =
      parsed("g (float[2] x) => (float[2] y) { a = Relu (x) b = Relu (a) y = Relu (b) }");
  const SimplifyReport report = simplify(*model);
  ASSERT_EQ(report.passes.size(), 1u);
  EXPECT_EQ(report.passes[0].pass, "eliminate_idempotent");
  EXPECT_EQ(report.passes[0].edits, 2);
}

}  // namespace
}  // namespace assay::simplify_test
