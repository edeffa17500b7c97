#include "engine/specialize/input_extents.h"

#include <gtest/gtest.h>

#include "assay/edit.h"

namespace assay::engine::input_extents_test {
namespace {

class InputExtentsTest : public testing::Test {
 protected:
  InputExtentsTest() {
    g.add_input("a", Type::tensor(DType::kFloat32, Dims{Dim::symbol("batch"), Dim::symbol("n"), Dim(4)}));
    g.add_input("b", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim()}));
  }
  static bool holds(const InputExtents& extents, const Shape& a, const Shape& b) {
    const Shape* shapes[] = {&a, &b};
    return extents.hold(shapes);
  }
  using Sets = std::vector<std::vector<Shape>>;

  Model model;
  Graph& g = *model.graph;
};

TEST_F(InputExtentsTest, WhatDiffersIsOpen) {
  const auto extents = InputExtents::of(g, Sets{{{1, 5, 4}, {5, 2}}, {{1, 6, 4}, {6, 2}}});
  ASSERT_TRUE(extents);
  EXPECT_EQ(dims_str(extents->dims()[0]), "(1, 'n', 4)");
  EXPECT_EQ(dims_str(extents->dims()[1]), "('n', 2)");
  EXPECT_TRUE(holds(*extents, {1, 9, 4}, {9, 2}));
  EXPECT_FALSE(holds(*extents, {1, 9, 4}, {8, 2}));  // n is one number
  EXPECT_FALSE(holds(*extents, {2, 9, 4}, {9, 2}));
  EXPECT_FALSE(holds(*extents, {1, 9, 4}, {9, 3}));
  EXPECT_FALSE(holds(*extents, {1, 9}, {9, 2}));
  EXPECT_FALSE(holds(*extents, {1, 0, 4}, {0, 2}));  // positive symbols
}

TEST_F(InputExtentsTest, UnknownExtentsMayBeAnything) {
  const auto extents = InputExtents::of(g, Sets{{{1, 5, 4}, {5, 2}}, {{1, 5, 4}, {5, 3}}});
  ASSERT_TRUE(extents);
  EXPECT_TRUE(holds(*extents, {1, 5, 4}, {5, 70}));
  EXPECT_FALSE(holds(*extents, {1, 6, 4}, {6, 2}));
}

TEST_F(InputExtentsTest, WhatCannotBeOpen) {
  EXPECT_FALSE(InputExtents::of(g, Sets{{{1, 5, 4}, {5, 2}}, {{1, 5, 4}, {5, 2}}}));     // nothing differs
  EXPECT_FALSE(InputExtents::of(g, Sets{{{1, 5, 4}, {5, 2}}, {{1, 5, 3}, {5, 2}}}));     // the network says 4
  EXPECT_FALSE(InputExtents::of(g, Sets{{{1, 5, 4}, {5, 2}}, {{1, 5, 4, 1}, {5, 2}}}));  // ranks
  EXPECT_FALSE(InputExtents::of(g, Sets{{{1, 5, 4}, {6, 2}}, {{1, 5, 4}, {7, 2}}}));     // two numbers for n
}

}  // namespace
}  // namespace assay::engine::input_extents_test
