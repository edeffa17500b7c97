#include "passes/fold_test_util.h"

namespace assay::fold_size_test {
namespace {

struct SizeCase {
  std::optional<int64_t> threshold;
  int64_t bytes0;
  bool fold0;
  int64_t bytes1;
  bool fold1;
};

class FoldSizeTest : public FoldTest, public testing::WithParamInterface<SizeCase> {};

TEST_P(FoldSizeTest, TheThresholdBoundsEachResult) {
  // Two nodes of the given numbers of bytes, one behind the other: Expand, and Slice or Tile.
  const SizeCase c = GetParam();
  Value* seed = g.add_constant("seed", Tensor::from<uint8_t>(Shape{1}, std::vector<uint8_t>{7}));
  Value* first = node("Expand", {seed, ints("n", {c.bytes0})}, "t0");
  g.outputs = {c.bytes1 <= c.bytes0 ? node("Slice", {first, ints("from", {0}), ints("to", {c.bytes1})}, "t1")
                                    : node("Tile", {first, ints("times", {c.bytes1 / c.bytes0})}, "t1")};
  fold_constants(model, {.size_threshold = c.threshold});
  EXPECT_EQ(value("t0")->is_constant(), c.fold0);
  EXPECT_EQ(value("t1")->is_constant(), c.fold1);
}

INSTANTIATE_TEST_SUITE_P(AsGraphSurgeon, FoldSizeTest,
                         testing::Values(SizeCase{std::nullopt, 2, true, 4, true},
                                         SizeCase{8, 2, true, 4, true}, SizeCase{8, 2, true, 1, true},
                                         SizeCase{1, 2, false, 4, false}, SizeCase{3, 2, true, 4, false},
                                         SizeCase{3, 4, false, 2, true}));

TEST_F(FoldTest, NothingGrowsByMoreThanTheLimit) {
  const int64_t n = kMaxGrowth / 4;
  Value* big = node("ConstantOfShape", {ints("n", {2 * n})}, "big");
  Value* bigger = node("Add", {big, floats("one", {1})}, "bigger");  // not freed by what is only computed
  g.outputs = {bigger, node("ReduceSum", {big}, "sum", {{"keepdims", int64_t{0}}})};
  EXPECT_EQ(folded_ops(), (Ops{"ConstantOfShape", "Add"}));
  ASSERT_EQ(report.too_large.size(), 2U);
  EXPECT_EQ(report.too_large[0].node, "'bigger_node' (Add)");
  EXPECT_TRUE(value("sum")->is_constant());
}

TEST_F(FoldTest, StringsAreAsLargeAsTheirCharacters) {
  Value* word = g.add_constant("word", Tensor::vector<std::string>({std::string(1000, 'x')}));
  g.outputs = {node("Expand", {word, ints("many", {kMaxGrowth / 500})}, "y"),
               node("Expand", {word, ints("few", {100})}, "z")};
  EXPECT_EQ(folded_ops(), Ops{"Expand"});
  ASSERT_EQ(report.too_large.size(), 1U);
  EXPECT_EQ(report.too_large[0].node, "'y_node' (Expand)");
}

TEST_F(FoldTest, WhatReplacesAnInitializerMayBeAsLarge) {
  const int64_t n = kMaxGrowth / 2;
  Value* w = g.add_constant("w", Tensor::zeros(DType::kFloat32, Shape{2, n}));
  Value* flat = node("Reshape", {w, ints("shape", {n, 2})}, "flat");
  g.outputs = {node("Transpose", {flat}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  Value* shared = g.add_constant("shared", Tensor::zeros(DType::kFloat32, Shape{n}));
  g.outputs = {node("Neg", {shared}, "a"), node("Abs", {shared}, "b")};
  EXPECT_EQ(folded_ops(), (Ops{"Neg", "Abs"}));
}

}  // namespace
}  // namespace assay::fold_size_test
