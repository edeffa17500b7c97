#include "engine/planner/clusters.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/import.h"
#include "ops/infer.h"

namespace assay::engine::clusters_test {
namespace {

std::shared_ptr<Model> parse(const std::string& graph) {
  auto model = parse_text("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph, "test");
  infer_shapes(*model);
  return model;
}

/// Each cluster's partitions, regions by the operators in them: "Conv+Relu | Conv Relu".
std::vector<std::string> clusters(const std::string& graph) {
  const auto model = parse(graph);
  std::vector<std::string> texts;
  for (const Cluster& cluster : find_clusters(*model)) {
    std::string text;
    for (const std::vector<Region>& partition : cluster.partitions) {
      text += text.empty() ? "" : " | ";
      for (size_t r = 0; r < partition.size(); ++r) {
        text += r > 0 ? " " : "";
        for (size_t n = 0; n < partition[r].nodes.size(); ++n)
          text += (n > 0 ? "+" : "") + partition[r].nodes[n]->op_type;
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(Clusters, AConvolutionMayTakeItsActivationIn) {
  EXPECT_EQ(
      clusters(
          "g (float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,1,1] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> "
          "{ a = Conv (x, w) y = Relu (a) }"),
      (std::vector<std::string>{"Conv+Relu | Conv Relu"}));
}

TEST(Clusters, WhatOthersReadStaysOutside) {
  for (const std::string& text :
       clusters("g (float[1,4,8,8] x) => (float[1,4,8,8] a, float[1,4,8,8] y) "
                "<float[4,4,1,1] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> { a = Conv (x, w) y = Relu (a) }"))
    EXPECT_EQ(text.find('+'), std::string::npos) << text;
}

TEST(Clusters, PointwiseChainsMayRunAsOne) {
  const std::vector<std::string> found =
      clusters("g (float[8] x, float[8] z) => (float[8] y) { a = Add (x, z) b = Exp (a) y = Mul (b, x) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].substr(0, 11), "Add+Exp+Mul") << found[0];
  EXPECT_NE(found[0].find("Add Exp Mul"), std::string::npos) << found[0];
}

TEST(Clusters, QuantizedChainsEndWhereTheyAreQuantized) {
  EXPECT_EQ(
      clusters(
          "g (uint8[1,2,4,4] a, uint8[1,2,4,4] b) => (float[1,2,4,4] y) "
          "<float s = {0.5}, uint8 z = {3}> { c = DequantizeLinear (a, s, z) d = DequantizeLinear (b, s, "
          "z) e = Add (c, d) f = Relu (e) q = QuantizeLinear (f, s, z) y = DequantizeLinear (q, s, z) }"),
      (std::vector<std::string>{"DequantizeLinear+DequantizeLinear+Add+Relu+QuantizeLinear | "
                                "DequantizeLinear DequantizeLinear Add Relu QuantizeLinear",
                                "DequantizeLinear"}));
}

TEST(Clusters, AveragesOf8BitsAreQuantizedAtOnce) {
  const auto network = [](const std::string& average) {
    return "g (uint8[1,2,4,4] a) => (uint8[1,2,1,1] y) <float s = {0.5}, uint8 z = {3}> "
           "{ c = DequantizeLinear (a, s, z) m = " +
           average + " y = QuantizeLinear (m, s, z) }";
  };
  EXPECT_EQ(clusters(network("GlobalAveragePool (c)")),
            (std::vector<std::string>{
                "DequantizeLinear", "GlobalAveragePool+QuantizeLinear | GlobalAveragePool QuantizeLinear"}));
  EXPECT_EQ(clusters(network("ReduceMean <axes = [-1, 2]> (c)")),
            (std::vector<std::string>{"DequantizeLinear",
                                      "ReduceMean+QuantizeLinear | ReduceMean QuantizeLinear"}));
  EXPECT_EQ(clusters(network("GlobalMaxPool (c)")),
            (std::vector<std::string>{"DequantizeLinear", "GlobalMaxPool", "QuantizeLinear"}));
}

TEST(Clusters, AttentionMayRunAsOneOrInParts) {
  EXPECT_EQ(
      clusters(
          "g (float[2,3,4] q, float[2,5,4] k, float[2,5,4] v) => (float[2,3,4] y) "
          "{ t = Transpose <perm = [0, 2, 1]> (k) a = MatMul (q, t) p = Softmax (a) y = MatMul (p, v) }"),
      (std::vector<std::string>{"Transpose+MatMul+Softmax+MatMul | Transpose+MatMul Softmax MatMul | "
                                "Transpose MatMul Softmax MatMul"}));
}

TEST(Clusters, AttentionTakesOnlyWhatNobodyElseWants) {
  EXPECT_EQ(
      clusters(
          "g (float[2,3,4] q, float[2,5,4] k, float[2,5,4] v) => (float[2,3,4] y, float[2,4,5] t) "
          "{ t = Transpose <perm = [0, 2, 1]> (k) a = MatMul (q, t) p = Softmax (a) y = MatMul (p, v) }"),
      (std::vector<std::string>{"Transpose", "MatMul+Softmax+MatMul | MatMul Softmax MatMul"}));
}

TEST(Clusters, AttentionTakesNothingThatItReads) {
  // Elements of a query lie apart, so it is read from the transposition, which the keys and values could look
  // through.
  EXPECT_EQ(
      clusters(
          "g (float[1,3,2,4,5] x) => (float[1,2,5,4] y) <int64[4] shape = {1,2,5,4}> "
          "{ t = Transpose <perm = [1, 0, 2, 4, 3]> (x) a, b, c = Split <axis = 0> (t) "
          "q = Reshape (a, shape) k = Reshape (b, shape) v = Reshape (c, shape) "
          "d = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul (q, d) p = Softmax (s) y = MatMul (p, v) }")
          .front(),
      "Transpose");
}

TEST(Clusters, EveryNodeIsInOnePartitionOnce) {
  const auto model = parse(
      "g (float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,1,1] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> "
      "{ a = Conv (x, w) b = Relu (a) c = Conv (b, w) d = Add (c, x) e = Relu (d) f = Sigmoid (e) y = Mul "
      "(e, f) }");
  std::set<const Node*> seen;
  for (const Cluster& cluster : find_clusters(*model))
    for (const std::vector<Region>& partition : cluster.partitions) {
      std::set<const Node*> nodes;
      for (const Region& r : partition)
        for (const Node* n : r.nodes) EXPECT_TRUE(nodes.insert(n).second);
      std::set<const Node*> alone;
      for (const Region& r : cluster.partitions.back())
        for (const Node* n : r.nodes) alone.insert(n);
      EXPECT_EQ(nodes, alone) << "the partitions of a cluster hold the same nodes";
      seen.insert(nodes.begin(), nodes.end());
    }
  EXPECT_EQ(seen.size(), model->graph->nodes().size());
}

}  // namespace
}  // namespace assay::engine::clusters_test
