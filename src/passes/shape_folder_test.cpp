#include "passes/fold_test_util.h"

namespace assay::shape_folder_test {
namespace {

struct PickCase {
  Dims dims;
  std::string op;
  Ints a, b, axes, steps;  // Gather: indices; Slice: starts, ends
  std::optional<Ints> expected;
};

const Dim kUnknown, kB = Dim::symbol("b"), kH = Dim::symbol("h"), kW = Dim::symbol("w");

class PickTest : public FoldTest, public testing::WithParamInterface<PickCase> {};

TEST_P(PickTest, KnownExtentsAreEnough) {
  const PickCase& c = GetParam();
  Value* shape = node("Shape", {input("x", DType::kFloat32, c.dims)}, "shape");
  std::vector<Value*> inputs = {shape, ints("a", c.a)};
  if (c.op == "Slice") inputs.push_back(ints("b", c.b));
  if (!c.axes.empty() || !c.steps.empty()) inputs.push_back(c.axes.empty() ? nullptr : ints("axes", c.axes));
  if (!c.steps.empty()) inputs.push_back(ints("steps", c.steps));
  g.outputs = {node(c.op, inputs, "y")};
  folded_ops();
  EXPECT_EQ(value("y")->is_constant(), c.expected.has_value());
  if (c.expected) {
    EXPECT_EQ(value("y")->tensor().to_int64(), *c.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gather, PickTest,
    testing::Values(PickCase{{kB, 3, kH, kW}, "Gather", {1}, {}, {}, {}, Ints{3}},
                    PickCase{{kB, 3, kH, 224}, "Gather", {1, 3}, {}, {}, {}, Ints{3, 224}},
                    PickCase{{kB, 3, kH, 224}, "Gather", {-1, -3}, {}, {}, {}, Ints{224, 3}},
                    PickCase{{kB, 3, 224, 224}, "Gather", {1, 2, 3}, {}, {}, {}, Ints{3, 224, 224}},
                    PickCase{{kB, 3, 0, kUnknown}, "Gather", {2}, {}, {}, {}, Ints{0}},
                    PickCase{{kB, 3, 224, 224}, "Gather", {0}, {}, {}, {}, std::nullopt},
                    PickCase{{3, 4, kUnknown}, "Gather", {2}, {}, {}, {}, std::nullopt}));
INSTANTIATE_TEST_SUITE_P(
    Slice, PickTest,
    testing::Values(PickCase{{kB, 3, kH, kW}, "Slice", {1}, {2}, {0}, {1}, Ints{3}},
                    PickCase{{kB, 3, 5, kW}, "Slice", {1}, {-1}, {}, {}, Ints{3, 5}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {1}, {2000}, {0}, {1}, Ints{3, 5, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {-2}, {4}, {0}, {1}, Ints{5, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {1}, {4}, {0}, {2}, Ints{3, 7}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {4}, {0}, {0}, {-1}, Ints{7, 5, 3}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {-1}, {INT64_MIN}, {0}, {-1}, std::nullopt},
                    PickCase{{2, 3, 5, 7}, "Slice", {-1}, {INT64_MIN}, {-1}, {-1}, Ints{7, 5, 3, 2}},
                    PickCase{{kB, 3, 5, 7}, "Slice", {0}, {2}, {}, {}, std::nullopt},
                    PickCase{{kB, 3, 5, 7}, "Slice", {3}, {1}, {}, {}, Ints{}}));

TEST_F(FoldTest, ShapeKnowsStartAndEnd) {
  Value* x = input("x", DType::kFloat32, {kB, 3, 4, 5});
  const auto shape = [&](const char* name, AttributeList a) {
    return node("Shape", {x}, name, std::move(a));
  };
  g.outputs = {shape("all", {}), shape("from_1", {{"start", int64_t{1}}}),
               shape("last", {{"start", int64_t{-1}}}),
               shape("mid", {{"start", int64_t{1}}, {"end", int64_t{-1}}}),
               shape("none", {{"start", int64_t{3}}, {"end", int64_t{1}}})};
  EXPECT_EQ(folded_ops(), Ops{"Shape"});
  EXPECT_EQ(value("from_1")->tensor().to_int64(), (Ints{3, 4, 5}));
  EXPECT_EQ(value("last")->tensor().to_int64(), Ints{5});
  EXPECT_EQ(value("mid")->tensor().to_int64(), (Ints{3, 4}));
  EXPECT_EQ(value("none")->tensor().shape(), Shape{0});
}

TEST_F(FoldTest, SizeNeedsAllExtentsAndUnknownRanksGiveNothing) {
  Value* ranked = input("x", DType::kFloat32, {2, 3});
  Value* open = g.add_input("o", Type::tensor(DType::kFloat32));
  g.outputs = {node("Size", {ranked}, "six"), node("Size", {input("s", DType::kFloat32, {kB, 3})}, "n"),
               node("Shape", {open}, "shape")};
  EXPECT_EQ(folded_ops(), (Ops{"Size", "Shape"}));
  EXPECT_EQ(value("six")->tensor().to_int64(), Ints{6});
  EXPECT_EQ(value("six")->tensor().shape(), Shape{});
}

TEST_F(FoldTest, ExtentsAreFollowedThroughSeveralPicks) {
  Value* shape = node("Shape", {input("x", DType::kFloat32, {kB, 3, 5, 7})}, "shape");
  Value* tail = node("Slice", {shape, ints("from", {1}), ints("to", {4})}, "tail");
  Value* one = node("Gather", {tail, g.add_constant("i", Tensor::scalar<int64_t>(-1))}, "one");
  g.outputs = {node("Unsqueeze", {one, ints("axes", {0})}, "y")};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(value("one")->tensor().shape(), Shape{});
  EXPECT_EQ(value("y")->tensor().to_int64(), Ints{7});
}

TEST_F(FoldTest, SliceOfOldOpsetsHasAttributes) {
  model.opsets = {{"", 9}};
  Value* shape = node("Shape", {input("x", DType::kFloat32, {kB, 3, 5, 7})}, "shape");
  g.outputs = {node("Slice", {shape}, "y", {{"starts", Ints{2}}, {"ends", Ints{4}}})};
  EXPECT_EQ(folded_ops(), Ops{});
  EXPECT_EQ(value("y")->tensor().to_int64(), (Ints{5, 7}));
}

TEST_F(FoldTest, ShapesStayOnRequest) {
  g.outputs = {node("Shape", {input("x", DType::kFloat32, {2, 3})}, "y")};
  EXPECT_EQ(folded_ops({.fold_shapes = false}), Ops{"Shape"});
}

}  // namespace
}  // namespace assay::shape_folder_test
