#include "engine/tactics/move/strided_view.h"

#include <gtest/gtest.h>

namespace assay::engine::strided_view_test {
namespace {

using Ints = std::vector<int64_t>;
using Kind = ViewStep::Kind;

ViewStep step(Kind kind, Shape shape) {
  return {.kind = kind, .node = nullptr, .source = nullptr, .shape = std::move(shape), .perm = {}};
}
ViewStep transpose(Shape shape, Ints perm) {
  ViewStep s = step(Kind::kTranspose, std::move(shape));
  s.perm = std::move(perm);
  return s;
}

TEST(StridedView, SplitsAndPermutes) {
  StridedView v(Shape{2, 5, 12});
  ASSERT_TRUE(v.apply(step(Kind::kReshape, {2, 5, 3, 4})));
  ASSERT_TRUE(v.apply(transpose({2, 3, 4, 5}, {0, 2, 3, 1})));
  EXPECT_EQ(v.shape(), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(v.strides(), (Ints{60, 4, 1, 12}));
}

TEST(StridedView, JoinsOnlyWhatLiesSideBySide) {
  StridedView v(Shape{2, 3, 4});
  ASSERT_TRUE(v.apply(transpose({3, 2, 4}, {1, 0, 2})));
  StridedView apart = v;
  EXPECT_FALSE(apart.reshape({6, 4}));
  // One reshape after another is one.
  ASSERT_TRUE(v.apply(step(Kind::kReshape, {6, 4})));
  EXPECT_TRUE(v.reshape({3, 1, 2, 4}));
  EXPECT_EQ(v.strides(), (Ints{4, 0, 12, 1}));
}

TEST(StridedView, TakesParts) {
  StridedView v(Shape{3, 2, 8});
  ViewStep pick = step(Kind::kPick, {2, 8});
  pick.first = 2;
  ASSERT_TRUE(v.apply(pick));
  ViewStep part = step(Kind::kPart, {2, 3});
  part.axis = 1;
  part.first = 1;
  part.stride = 2;
  ASSERT_TRUE(v.apply(part));
  EXPECT_EQ(v.shape(), (Shape{2, 3}));
  EXPECT_EQ(v.strides(), (Ints{8, 2}));
  EXPECT_EQ(v.offset(), 33);
}

TEST(StridedView, RepeatsHeads) {
  StridedView v(Shape{1, 2, 7, 4});
  ASSERT_TRUE(v.apply(step(Kind::kReshape, {1, 2, 1, 7, 4})));
  ASSERT_TRUE(v.apply(step(Kind::kExpand, {1, 2, 3, 7, 4})));
  ASSERT_TRUE(v.reshape({1, 6, 7, 4}));
  EXPECT_EQ(v.repeat(1), 3);
  EXPECT_EQ(v.strides(), (Ints{0, 28, 4, 1}));
  StridedView joined = v;
  EXPECT_FALSE(joined.reshape({1, 42, 4}));
}

}  // namespace
}  // namespace assay::engine::strided_view_test
