#include "inspect/weight_sparsity.h"

#include <gtest/gtest.h>

#include "inspect/inspect_test_util.h"

namespace assay::weight_sparsity_test {
namespace {

TEST(WeightSparsityTest, SaysOfEachWeightWhatItIs) {
  TestModel m;
  m.input("x", {2, 4});
  Tensor half = Tensor::zeros(DType::kFloat32, {4, 2});
  half.mutable_data<float>()[0] = 1;
  m.graph->add_constant("half", std::move(half));
  m.constant("full", {4, 2});
  m.constant("odd", {6, 2});
  m.node("MatMul", {"x", "half"}, {"a"});
  m.node("MatMul", {"x", "full"}, {"b"});
  m.node("MatMul", {"x", "odd"}, {"c"});
  const std::vector<WeightSparsity> found = weight_sparsity(*m.model);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].weight, "half");
  EXPECT_EQ(found[0].state, WeightSparsity::State::kSparse);
  EXPECT_EQ(found[0].axis, 0U);
  EXPECT_EQ(found[1].state, WeightSparsity::State::kDense);
  EXPECT_EQ(found[2].state, WeightSparsity::State::kSkipped);
  EXPECT_EQ(found[2].reason, "the length of axis 0 (6 in [6, 2]) is not a multiple of 4");
  EXPECT_NE(sparsity_json(found).find("\"state\": \"sparse\""), std::string::npos);
}

}  // namespace
}  // namespace assay::weight_sparsity_test
