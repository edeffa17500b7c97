#include "debug/divergence.h"

#include <cmath>

#include "debug/debug_test_util.h"
#include "tensor/convert.h"

namespace assay::debug::divergence_test {
namespace {

constexpr const char* kChain = R"(g (float[2,3] x) => (float[2,3] y) {
 [a] t1 = Abs (x)
 [b] t2 = Sqrt (t1)
 [c] t3 = Exp (t2)
 [d] y = Neg (t3)
})";

/// Numbers that all elementwise steps tell apart.
std::vector<Tensor> feed() {
  return {Tensor::from<float>({2, 3}, std::vector<float>{-1, 2, 0.5f, -4, 3, 0.25f})};
}

/// With both run on the reference, and what `spoil` does to the second's values.
DivergenceReport diverge(const std::string& first, const std::string& second,
                         const std::function<void(LayerValues&)>& spoil = {},
                         DivergenceOptions options = {}) {
  const std::shared_ptr<Model> a = model_from(first), b = model_from(second);
  TensorStore store(kResultMemory);
  LayerValues va(store), vb(store);
  run_reference(a, feed(), va);
  run_reference(b, feed(), vb);
  if (spoil) spoil(vb);
  options.outputs = output_names(*a);
  DivergenceSearch search(a, b, options);
  search.look(va, vb);
  return search.take_report();
}

Tensor scaled(const LayerValues& values, const std::string& name, float by) {
  Tensor t = values.find(name).load();
  for (float& x : t.mutable_span<float>()) x *= by;
  return t;
}

TEST(Divergence, NothingDiffers) {
  const DivergenceReport report = diverge(kChain, kChain);
  EXPECT_TRUE(report.divergences.empty());
  EXPECT_EQ(report.compared, 5u);
  EXPECT_EQ(report.differing, 0u);
}

TEST(Divergence, NamesTheNodeAndWhoIsWrong) {
  const DivergenceReport report = diverge(kChain, kChain, [](LayerValues& v) {
    for (const char* name : {"t2", "t3", "y"}) v.put(name, scaled(v, name, 1.1f));
  });
  ASSERT_EQ(report.divergences.size(), 1u);
  const Divergence& d = report.divergences[0];
  EXPECT_EQ(d.first_tensor, "t2");
  ASSERT_EQ(d.first_nodes.size(), 1u);
  EXPECT_NE(d.first_nodes[0].find("'b'"), std::string::npos);
  EXPECT_EQ(d.followers, 2u);
  EXPECT_EQ(d.excess_of_operands, 0);
  ASSERT_TRUE(d.first_own_error && d.second_own_error);
  EXPECT_LT(*d.first_own_error, 1e-6);
  EXPECT_NEAR(*d.second_own_error, 0.1 / 1.1, 1e-3);
  ASSERT_EQ(d.outputs.size(), 1u);
  EXPECT_EQ(d.outputs[0].output, "y");
}

TEST(Divergence, WhatReachesAnOutputComesFirst) {
  const DivergenceReport report = diverge(R"(g (float[2,3] x) => (float[2,3] y) {
 [unused] t1 = Abs (x)
 [used] t2 = Tanh (x)
 [last] y = Neg (t2)
})",
                                          R"(g (float[2,3] x) => (float[2,3] y) {
 [unused] t1 = Sqrt (x)
 [used] t2 = Sinh (x)
 [last] y = Neg (t2)
})");
  ASSERT_EQ(report.divergences.size(), 2u);
  EXPECT_EQ(report.divergences[0].first_tensor, "t2");
  EXPECT_EQ(report.divergences[0].outputs.size(), 1u);
  EXPECT_EQ(report.divergences[1].first_tensor, "t1");
}

TEST(Divergence, TellsWhatAgreesAgain) {
  const DivergenceReport report =
      diverge(kChain, kChain, [](LayerValues& v) { v.put("t2", scaled(v, "t2", 2)); });
  ASSERT_EQ(report.divergences.size(), 1u);
  EXPECT_EQ(report.divergences[0].recovered, 1u);
  EXPECT_TRUE(report.divergences[0].outputs.empty());
}

TEST(Divergence, KeepsToTheTolerance) {
  const auto spoil = [](LayerValues& v) { v.put("y", scaled(v, "y", 1.01f)); };
  EXPECT_EQ(diverge(kChain, kChain, spoil).divergences.size(), 1u);
  EXPECT_TRUE(diverge(kChain, kChain, spoil, {.tolerance = {.rtol = 0.02}}).divergences.empty());
  EXPECT_TRUE(diverge(kChain, kChain, spoil, {.tolerance = {.atol = 1}}).divergences.empty());
  EXPECT_EQ(diverge(kChain, kChain, spoil, {.tolerance = {.rtol = 0.005}}).divergences.size(), 1u);
}

/// Another exporter has other names and another operator in the middle.
TEST(Divergence, FindsTensorsOfOtherNames) {
  constexpr const char* kRenamed = R"(g (float[2,3] input) => (float[2,3] out) {
 [n1] v1 = Abs (input)
 [n2] v2 = Sqrt (v1)
 [n3] v3 = Tanh (v2)
 [n4] out = Neg (v3)
})";
  const DivergenceReport report = diverge(kChain, kRenamed);
  ASSERT_EQ(report.divergences.size(), 1u);
  const Divergence& d = report.divergences[0];
  EXPECT_EQ(d.first_tensor, "t3");
  EXPECT_EQ(d.second_tensor, "v3");
  EXPECT_EQ(d.by, MatchedBy::kPlace);
  EXPECT_EQ(report.first_alone + report.second_alone, 0u);
  EXPECT_EQ(d.followers, 1u);
}

/// Names that an exporter has numbered again, so that they stand for other tensors.
TEST(Divergence, NamesThatMovedDoNotMatch) {
  constexpr const char* kMoved = R"(g (float[2,3] x) => (float[2,3] y) {
 [a] t2 = Abs (x)
 [b] t3 = Sqrt (t2)
 [c] t4 = Exp (t3)
 [d] y = Neg (t4)
})";
  const DivergenceReport report = diverge(kChain, kMoved);
  EXPECT_TRUE(report.divergences.empty());
  EXPECT_EQ(report.compared, 5u);
  EXPECT_EQ(report.matched_by.at("computation"), 3u);
}

/// Two nodes have become one, under the name of the first: it is the second's result that it has.
TEST(Divergence, FindsTheResultOfAFusion) {
  const std::string before = R"(g (float[2,3] x) => (float[2,3] y)
<float[1] p = {3}, float[1] q = {2}> {
 [a] t1 = Mul (x, p)
 [b] t2 = Mul (t1, q)
 [c] y = Relu (t2)
})";
  const std::string after = R"(g (float[2,3] x) => (float[2,3] z)
<float[1] p = {6}> {
 [a] t1 = Mul (x, p)
 [c] z = Relu (t1)
})";
  const DivergenceReport report = diverge(before, after);
  EXPECT_TRUE(report.divergences.empty()) << report.divergences[0].first_tensor;
  EXPECT_EQ(report.first_alone, 1u);
  // Without a look at values the name decides.
  EXPECT_EQ(diverge(before, after, {}, {.matches_values = false}).divergences.size(), 1u);
}

TEST(Divergence, JsonTellsAllOfIt) {
  const std::string json =
      divergence_json(diverge(kChain, kChain, [](LayerValues& v) { v.put("t2", scaled(v, "t2", 2)); }));
  for (const char* part :
       {"\"first_tensor\": \"t2\"", "\"first_nodes\"", "\"recovered\": 1", "\"second_own_error\""})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(TensorDifference, KnowsWhatAgrees) {
  const auto floats = [](std::vector<float> v) { return Tensor::vector<float>(v); };
  EXPECT_FALSE(difference_of(floats({NAN, INFINITY, 1}), floats({NAN, INFINITY, 1}), {}).differs);
  EXPECT_TRUE(difference_of(floats({INFINITY, 1}), floats({-INFINITY, 1}), {}).differs);
  EXPECT_TRUE(difference_of(floats({NAN, 1}), floats({0, 1}), {}).differs);
  EXPECT_FALSE(difference_of(floats({1e-6f, 1}), floats({0, 1}), {}).differs);  // of the largest number
  EXPECT_TRUE(difference_of(floats({1e-3f, 1}), floats({0, 1}), {}).differs);
  EXPECT_FALSE(difference_of(convert(floats({1e-3f, 1}), DType::kFloat16), floats({0, 1}), {}).differs);
  EXPECT_TRUE(difference_of(Tensor::vector<int64_t>({1}), Tensor::vector<int64_t>({2}), {}).differs);
  EXPECT_NE(difference_of(floats({1}), floats({1, 2}), {}).problem, "");
  EXPECT_TRUE(
      difference_of(Tensor::vector<std::string>({"a"}), Tensor::vector<std::string>({"b"}), {}).differs);
  EXPECT_FALSE(difference_of(floats({}), floats({}), {}).differs);
}

}  // namespace
}  // namespace assay::debug::divergence_test
