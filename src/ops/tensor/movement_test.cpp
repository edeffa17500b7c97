// Operators that move whole elements: values, versions and bad input.
#include <gtest/gtest.h>

#include "ops/op_test_util.h"

namespace assay::movement_test {
namespace {

using Ints = std::vector<int64_t>;

Tensor ints(Ints values) { return Tensor::vector(values); }

/// 0, 1, 2, ... as int64.
Tensor counted(const Shape& shape) {
  Ints values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  return Tensor::from<int64_t>(shape, values);
}

struct Case {
  const char* name;
  const char* op;
  int opset;
  std::vector<Tensor> inputs;
  AttributeList attributes;
  Shape shape;
  Ints values;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Movement : public testing::TestWithParam<Case> {};

TEST_P(Movement, GivesTheExpectedElements) {
  const Case& c = GetParam();
  const Tensor y = run_op(c.op, c.opset, c.inputs, c.attributes)[0];
  EXPECT_EQ(y.shape(), c.shape);
  EXPECT_EQ(y.to_int64(), c.values);
}

const Case kCases[] = {
    {"SliceClamps", "Slice", 13, {counted({5}), ints({-100}), ints({INT64_MAX})}, {}, {5}, {0, 1, 2, 3, 4}},
    {"SliceBackwards",
     "Slice",
     13,
     {counted({5}), ints({-1}), ints({INT64_MIN}), ints({0}), ints({-2})},
     {},
     {3},
     {4, 2, 0}},
    {"SliceHugeSteps",
     "Slice",
     13,
     {counted({2, 2}), ints({1, 0}), ints({-9, 9}), ints({0, 1}), ints({INT64_MIN, INT64_MAX})},
     {},
     {1, 1},
     {2}},
    {"SliceNothing", "Slice", 13, {counted({5}), ints({3}), ints({3})}, {}, {0}, {}},
    {"SliceOfNothing",
     "Slice",
     13,
     {counted({0}), ints({-1}), ints({-9}), ints({0}), ints({-1})},
     {},
     {0},
     {}},
    {"SliceByAttributes",
     "Slice",
     9,
     {counted({2, 3})},
     {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{1}}},
     {2, 1},
     {1, 4}},
    {"TransposeDefault", "Transpose", 13, {counted({2, 3})}, {}, {3, 2}, {0, 3, 1, 4, 2, 5}},
    {"ConcatNegativeAxis",
     "Concat",
     13,
     {counted({2, 1}), counted({2, 2})},
     {{"axis", int64_t{-1}}},
     {2, 3},
     {0, 0, 1, 1, 2, 3}},
    {"ConcatWithNothing", "Concat", 13, {counted({0}), counted({2})}, {{"axis", int64_t{0}}}, {2}, {0, 1}},
    {"ExpandBothWays", "Expand", 13, {counted({2, 1}), ints({1, 1, 3})}, {}, {1, 2, 3}, {0, 0, 0, 1, 1, 1}},
    {"Tile", "Tile", 13, {counted({1, 2}), ints({2, 2})}, {}, {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1}},
    {"TileByZero", "Tile", 13, {counted({2}), ints({0})}, {}, {0}, {}},
    {"SqueezeAll", "Squeeze", 13, {counted({1, 2, 1})}, {}, {2}, {0, 1}},
    {"SqueezeByAttribute", "Squeeze", 11, {counted({1, 2, 1})}, {{"axes", Ints{-1}}}, {1, 2}, {0, 1}},
    {"UnsqueezeUnordered", "Unsqueeze", 13, {counted({2}), ints({2, 0})}, {}, {1, 2, 1}, {0, 1}},
    {"FlattenAtTheEnd", "Flatten", 13, {counted({2, 2})}, {{"axis", int64_t{2}}}, {4, 1}, {0, 1, 2, 3}},
    {"PadConstant",
     "Pad",
     13,
     {counted({2}), ints({1, 2}), Tensor::scalar<int64_t>(9)},
     {},
     {5},
     {9, 0, 1, 9, 9}},
    {"PadCutsAndAdds", "Pad", 13, {counted({4}), ints({-1, 1})}, {}, {4}, {1, 2, 3, 0}},
    {"PadReflectTwice",
     "Pad",
     13,
     {counted({3}), ints({4, 3})},
     {{"mode", "reflect"}},
     {10},
     {0, 1, 2, 1, 0, 1, 2, 1, 0, 1}},
    {"PadReflectOne", "Pad", 13, {counted({1}), ints({1, 1})}, {{"mode", "reflect"}}, {3}, {0, 0, 0}},
    {"PadReflectAfterACut",
     "Pad",
     13,
     {counted({4}), ints({-1, 2})},
     {{"mode", "reflect"}},
     {5},
     {1, 2, 3, 2, 1}},
    {"PadEdge",
     "Pad",
     13,
     {counted({1, 3}), ints({1, 0, 0, 2})},
     {{"mode", "edge"}},
     {2, 5},
     {0, 1, 2, 2, 2, 0, 1, 2, 2, 2}},
    {"PadWrapOfAxis",
     "Pad",
     19,
     {counted({2, 3}), ints({2, 4}), Tensor(), ints({-1})},
     {{"mode", "wrap"}},
     {2, 9},
     {1, 2, 0, 1, 2, 0, 1, 2, 0, 4, 5, 3, 4, 5, 3, 4, 5, 3}},
    {"TriluUpper",
     "Trilu",
     14,
     {counted({2, 3}), Tensor::scalar<int64_t>(1)},
     {},
     {2, 3},
     {0, 1, 2, 0, 0, 5}},
    {"TriluLower",
     "Trilu",
     14,
     {counted({2, 3}), Tensor::scalar<int64_t>(INT64_MIN)},
     {{"upper", int64_t{0}}},
     {2, 3},
     {0, 0, 0, 0, 0, 0}},
    {"SpaceToDepthCrd",
     "SpaceToDepth",
     28,
     {counted({1, 2, 2, 2})},
     {{"blocksize", int64_t{2}}, {"mode", "CRD"}},
     {1, 8, 1, 1},
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"SpaceToDepthDcr",
     "SpaceToDepth",
     13,
     {counted({1, 2, 2, 2})},
     {{"blocksize", int64_t{2}}},
     {1, 8, 1, 1},
     {0, 4, 1, 5, 2, 6, 3, 7}},
};
INSTANTIATE_TEST_SUITE_P(All, Movement, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Split, CutsByInputByAttributeAndEvenly) {
  const auto lengths = [](const std::vector<Tensor>& parts) {
    Ints list;
    for (const Tensor& t : parts) list.push_back(t.numel());
    return list;
  };
  const Tensor x = counted({7});
  EXPECT_EQ(lengths(run_op("Split", 13, {x, ints({2, 0, 5})}, {}, 3)), (Ints{2, 0, 5}));
  EXPECT_EQ(lengths(run_op("Split", 11, {x}, {{"split", Ints{3, 4}}}, 2)), (Ints{3, 4}));
  EXPECT_EQ(lengths(run_op("Split", 18, {x}, {{"num_outputs", int64_t{3}}}, 3)), (Ints{3, 3, 1}));
  EXPECT_EQ(run_op("Split", 18, {x}, {{"num_outputs", int64_t{3}}}, 3)[2].to_int64(), Ints{6});
  EXPECT_EQ(lengths(run_op("Split", 13, {counted({6})}, {}, 3)), (Ints{2, 2, 2}));
}

TEST(Pad, TakesStringsAndNibbles) {
  const Tensor s = run_op(
      "Pad", 13, {Tensor::vector<std::string>({"a"}), ints({1, 1}), Tensor::scalar<std::string>("-")})[0];
  EXPECT_EQ(s.span<std::string>()[0], "-");
  EXPECT_EQ(s.span<std::string>()[1], "a");
  const Tensor x = convert(counted({1, 3}), DType::kInt4);
  const Tensor y = run_op("Pad", 21, {x, ints({0, 1, 0, 0})}, {{"mode", "edge"}})[0];
  EXPECT_EQ(convert(y, DType::kInt64).to_int64(), (Ints{0, 0, 1, 2}));
}

struct Bad {
  const char* name;
  const char* op;
  int opset;
  std::vector<Tensor> inputs;
  AttributeList attributes;
  const char* message;  ///< a part of it
};

void PrintTo(const Bad& c, std::ostream* out) { *out << c.name; }

class BadMovement : public testing::TestWithParam<Bad> {};

/// Inference does not know the values of inputs here, so that eval has to find the fault itself.
TEST_P(BadMovement, IsRefusedByEval) {
  const Bad& c = GetParam();
  std::vector<bool> present;
  for (const Tensor& t : c.inputs) present.push_back(t.defined());
  const OpTestNode n(c.op, c.opset, present, c.attributes, 1, "");
  EvalContext context(n.node(), n.op(), n.version(), widened(n.op(), c.inputs));
  try {
    n.version().eval(context);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << e.what();
  }
}

const Bad kBad[] = {
    {"TransposeShortPerm",
     "Transpose",
     13,
     {counted({2, 3})},
     {{"perm", Ints{0}}},
     "1 entries for an input of rank 2"},
    {"TransposeTwice", "Transpose", 13, {counted({2, 3})}, {{"perm", Ints{0, 0}}}, "named twice"},
    {"ConcatExtents",
     "Concat",
     13,
     {counted({2, 1}), counted({3, 1})},
     {{"axis", int64_t{1}}},
     "differ in an axis other than 1"},
    {"ConcatAxis", "Concat", 13, {counted({2}), counted({2})}, {{"axis", int64_t{1}}}, "axis 1 is outside"},
    {"ConcatScalar", "Concat", 13, {counted({}), counted({})}, {{"axis", int64_t{0}}}, "rank 0"},
    {"SplitSum", "Split", 13, {counted({4}), ints({5})}, {}, "add up to 5, the extent is 4"},
    {"SplitNegative", "Split", 13, {counted({4}), ints({-1})}, {}, "negative length -1"},
    {"SplitCount", "Split", 13, {counted({4}), ints({2, 2})}, {}, "2 lengths for 1 outputs"},
    {"SplitUnsaid", "Split", 18, {counted({4})}, {}, "neither"},
    {"SliceStepZero",
     "Slice",
     13,
     {counted({4}), ints({0}), ints({2}), ints({0}), ints({0})},
     {},
     "step is 0"},
    {"SliceLists", "Slice", 13, {counted({4}), ints({0, 0}), ints({2})}, {}, "2, 1, 2 and 2 entries"},
    {"SliceAxis", "Slice", 13, {counted({4}), ints({0}), ints({2}), ints({1})}, {}, "axis 1 is outside"},
    {"SqueezeExtent", "Squeeze", 13, {counted({2, 1}), ints({0})}, {}, "axis 0 to be squeezed has extent 2"},
    {"UnsqueezeTwice", "Unsqueeze", 13, {counted({2}), ints({0, -3})}, {}, "named twice"},
    {"ExpandNegative", "Expand", 13, {counted({2}), ints({-1})}, {}, "negative extent -1"},
    {"ExpandMismatch", "Expand", 13, {counted({2}), ints({3})}, {}, "broadcast"},
    {"ExpandAbsurd", "Expand", 13, {counted({1}), ints({int64_t{1} << 40})}, {}, "bytes that there are"},
    {"TileOverflow", "Tile", 13, {counted({2, 2}), ints({INT64_MAX, 1})}, {}, "overflow"},
    {"TileAbsurd", "Tile", 13, {counted({2}), ints({int64_t{1} << 60})}, {}, "bytes that there are"},
    {"TileNegative", "Tile", 13, {counted({2}), ints({-1})}, {}, "negative entry -1"},
    {"ConstantOfShapeAbsurd", "ConstantOfShape", 9, {ints({1 << 20, 1 << 20})}, {}, "bytes that there are"},
    {"ConstantOfShapeOverflow", "ConstantOfShape", 9, {ints({INT64_MAX, 3})}, {}, "is larger than the"},
    {"ConstantOfShapeNegative", "ConstantOfShape", 9, {ints({-5})}, {}, "negative extent -5"},
    {"PadCutsTooMuch", "Pad", 13, {counted({2}), ints({-1, -2})}, {}, "cut more than the extent 2"},
    {"PadFromNothing", "Pad", 13, {counted({0}), ints({1, 0})}, {{"mode", "edge"}}, "without elements"},
    {"PadHuge", "Pad", 13, {counted({2}), ints({INT64_MAX, INT64_MAX})}, {}, "out of range"},
    {"PadLowest", "Pad", 13, {counted({2}), ints({INT64_MIN, 0})}, {}, "out of range"},
    {"PadAbsurd",
     "Pad",
     13,
     {counted({2}), ints({0, int64_t{1} << 50})},
     {{"mode", "reflect"}},
     "bytes that there are"},
    {"PadCount", "Pad", 13, {counted({2}), ints({1})}, {}, "1 entries for 1 axes"},
    {"PadType",
     "Pad",
     13,
     {counted({2}), ints({1, 1}), Tensor::scalar(1.0f)},
     {},
     "constant_value is float32"},
    {"PadWrapTooEarly",
     "Pad",
     18,
     {counted({2}), ints({1, 1})},
     {{"mode", "wrap"}},
     "mode 'wrap' is unknown"},
    {"DepthToSpaceChannels",
     "DepthToSpace",
     13,
     {counted({1, 3, 1, 1})},
     {{"blocksize", int64_t{2}}},
     "3 channels do not divide"},
    {"DepthToSpaceBlock",
     "DepthToSpace",
     13,
     {counted({1, 4, 1, 1})},
     {{"blocksize", int64_t{0}}},
     "blocksize is 0"},
    {"SpaceToDepthExtent",
     "SpaceToDepth",
     13,
     {counted({1, 1, 3, 2})},
     {{"blocksize", int64_t{2}}},
     "does not divide"},
    {"FlattenAxis", "Flatten", 13, {counted({2})}, {{"axis", int64_t{2}}}, "axis 2 is outside"},
    {"TriluVector", "Trilu", 14, {counted({2})}, {}, "rank 2 or more"},
};
INSTANTIATE_TEST_SUITE_P(All, BadMovement, testing::ValuesIn(kBad),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::movement_test
