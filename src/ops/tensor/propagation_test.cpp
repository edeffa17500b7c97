// Inference of the tensor operators: symbolic extents
// stay, and the integers of shape arithmetic are tracked.
#include <gtest/gtest.h>

#include "assay/edit.h"
#include "ops/infer.h"
#include "ops/op_test_util.h"

namespace assay::propagation_test {
namespace {

using Ints = std::vector<int64_t>;

const Dim kBatch = Dim::symbol("batch"), kUnknown;

Tensor ints(Ints values) { return Tensor::vector(values); }
Type floats(Dims dims) { return Type::tensor(DType::kFloat32, std::move(dims)); }

struct Case {
  const char* name;
  const char* op;
  int opset;
  std::vector<InferInput> inputs;
  AttributeList attributes;
  Type type;                    ///< of output 0
  std::optional<Dims> extents;  ///< of output 0
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Propagation : public testing::TestWithParam<Case> {};

TEST_P(Propagation, InfersTypeAndExtents) {
  const Case& c = GetParam();
  const InferResult r = infer_op(c.op, c.opset, c.inputs, c.attributes);
  EXPECT_EQ(r.types[0].str(), c.type.str());
  ASSERT_EQ(r.extents[0].has_value(), c.extents.has_value());
  if (c.extents) {
    EXPECT_EQ(*r.extents[0], *c.extents) << dims_str(*r.extents[0]);
  }
}

Type int64s(int64_t n) { return Type::tensor(DType::kInt64, Dims{Dim(n)}); }
const Type kScalar = Type::tensor(DType::kInt64, Dims());
const InferInput kShape(Dims{kBatch, Dim(3), kUnknown});  // Shape's result for [batch, 3, ?]

const Case kCases[] = {
    {"Shape", "Shape", 13, {floats({kBatch, Dim(3)})}, {}, int64s(2), Dims{kBatch, Dim(3)}},
    {"ShapeOfPart",
     "Shape",
     15,
     {floats({kBatch, Dim(3), Dim(4)})},
     {{"start", int64_t{-2}}, {"end", int64_t{-1}}},
     int64s(1),
     Dims{Dim(3)}},
    {"ShapeOfNothing",
     "Shape",
     15,
     {floats({kBatch})},
     {{"start", int64_t{5}}, {"end", int64_t{-5}}},
     int64s(0),
     Dims{}},
    {"ShapeOfUnknown",
     "Shape",
     13,
     {Type::tensor(DType::kFloat32)},
     {},
     Type::tensor(DType::kInt64, Dims{kUnknown}),
     {}},
    {"Size", "Size", 13, {floats({kBatch, Dim(3)})}, {}, kScalar, Dims{Dim::symbol("3*batch")}},
    {"GatherScalar", "Gather", 13, {kShape, Tensor::scalar<int64_t>(0)}, {}, kScalar, Dims{kBatch}},
    {"GatherVector", "Gather", 13, {kShape, ints({-2, 2})}, {}, int64s(2), Dims{Dim(3), kUnknown}},
    {"GatherData",
     "Gather",
     13,
     {floats({kBatch, Dim(5)}), Type::tensor(DType::kInt64, Dims{kUnknown, Dim(2)})},
     {{"axis", int64_t{1}}},
     floats({kBatch, kUnknown, Dim(2)}),
     {}},
    {"SliceOfShape", "Slice", 13, {kShape, ints({0}), ints({2})}, {}, int64s(2), Dims{kBatch, Dim(3)}},
    {"SliceOfShapeBackwards",
     "Slice",
     13,
     {kShape, ints({-1}), ints({INT64_MIN}), ints({0}), ints({-1})},
     {},
     int64s(3),
     Dims{kUnknown, Dim(3), kBatch}},
    {"SliceByAttributes",
     "Slice",
     9,
     {kShape},
     {{"starts", Ints{1}}, {"ends", Ints{2}}},
     int64s(1),
     Dims{Dim(3)}},
    {"SliceOfData",
     "Slice",
     13,
     {floats({kBatch, Dim(8)}), ints({0, 1}), ints({INT64_MAX, -1})},
     {},
     floats({kBatch, Dim(6)}),
     {}},
    {"SliceOfSymbol",
     "Slice",
     13,
     {floats({kBatch}), ints({1}), ints({INT64_MAX})},
     {},
     floats({kUnknown}),
     {}},
    {"SliceToOwnExtent",
     "Slice",
     13,
     {floats({kBatch}), ints({0}), InferInput(Dims{kBatch})},
     {},
     floats({kBatch}),
     {}},
    {"SliceUnknownOfOneAxis",
     "Slice",
     13,
     {floats({kBatch, Dim(8)}), int64s(1), int64s(1), ints({1})},
     {},
     floats({kBatch, kUnknown}),
     {}},
    {"ConcatOfExtents",
     "Concat",
     13,
     {InferInput(Dims{kBatch}), ints({-1}), int64s(1)},
     {{"axis", int64_t{0}}},
     int64s(3),
     Dims{kBatch, kUnknown, kUnknown}},
    {"ConcatOfData",
     "Concat",
     13,
     {floats({kUnknown, Dim(2)}), floats({kBatch, Dim(3)})},
     {{"axis", int64_t{-1}}},
     floats({kBatch, Dim(5)}),
     {}},
    {"Unsqueeze",
     "Unsqueeze",
     13,
     {InferInput::scalar_extent(kBatch), ints({0})},
     {},
     int64s(1),
     Dims{kBatch}},
    {"UnsqueezeByAttribute",
     "Unsqueeze",
     11,
     {InferInput::scalar_extent(kBatch)},
     {{"axes", Ints{0}}},
     int64s(1),
     Dims{kBatch}},
    {"Squeeze", "Squeeze", 13, {InferInput(Dims{kBatch}), ints({0})}, {}, kScalar, Dims{kBatch}},
    {"SqueezeOfUnknown", "Squeeze", 13, {floats({kBatch, Dim(1)})}, {}, Type::tensor(DType::kFloat32), {}},
    {"Cast",
     "Cast",
     13,
     {kShape},
     {{"to", int64_t{6}}},
     Type::tensor(DType::kInt32, Dims{Dim(3)}),
     Dims{kBatch, Dim(3), kUnknown}},
    {"CastToFloat", "Cast", 13, {kShape}, {{"to", int64_t{1}}}, floats({Dim(3)}), {}},
    {"Identity", "Identity", 13, {kShape}, {}, int64s(3), Dims{kBatch, Dim(3), kUnknown}},
    {"Constant", "Constant", 13, {}, {{"value_ints", Ints{2, -1}}}, int64s(2), Dims{Dim(2), kUnknown}},
    {"ConstantOfShape", "ConstantOfShape", 13, {kShape}, {}, floats({kBatch, Dim(3), kUnknown}), {}},
    {"ConstantOfShapeOfOnes",
     "ConstantOfShape",
     13,
     {ints({2})},
     {{"value", ints({1})}},
     int64s(2),
     Dims{Dim(1), Dim(1)}},
    {"ExpandOfData",
     "Expand",
     13,
     {floats({Dim(1), Dim(3)}), InferInput(Dims{kBatch, Dim(1)})},
     {},
     floats({kBatch, Dim(3)}),
     {}},
    {"ExpandOfExtent",
     "Expand",
     13,
     {InferInput(Dims{kBatch}), ints({2})},
     {},
     int64s(2),
     Dims{kBatch, kBatch}},
    {"ExpandToUnknown",
     "Expand",
     13,
     {floats({kBatch, Dim(3)}), int64s(3)},
     {},
     floats({kUnknown, kUnknown, Dim(3)}),
     {}},
    {"Tile", "Tile", 13, {floats({kBatch, Dim(3)}), ints({1, 2})}, {}, floats({kBatch, Dim(6)}), {}},
    {"ReshapeByValue",
     "Reshape",
     13,
     {floats({kBatch, Dim(4), Dim(6)}), ints({0, -1, 8})},
     {},
     floats({kBatch, Dim(3), Dim(8)}),
     {}},
    {"ReshapeCopiesTheUnknown",
     "Reshape",
     13,
     {floats({kUnknown, Dim(4), Dim(6), Dim(2)}), ints({0, 4, -1})},
     {},
     floats({kUnknown, Dim(4), Dim(12)}),
     {}},
    {"ReshapeFindsTheUnknown",
     "Reshape",
     13,
     {floats({kBatch, Dim(4), Dim(6)}), InferInput(Dims{kBatch, kUnknown})},
     {},
     floats({kBatch, Dim(24)}),
     {}},
    {"ReshapeOfTwoUnknowns",
     "Reshape",
     13,
     {floats({kBatch, Dim(4)}), InferInput(Dims{kUnknown, kUnknown})},
     {},
     floats({kUnknown, kUnknown}),
     {}},
    {"ReshapeOfUnknownData",
     "Reshape",
     13,
     {Type::tensor(DType::kFloat32), InferInput(Dims{kBatch, Dim(0), kUnknown})},
     {},
     floats({kBatch, kUnknown, kUnknown}),
     {}},
    {"Transpose", "Transpose", 13, {floats({kBatch, Dim(3)})}, {}, floats({Dim(3), kBatch}), {}},
    {"TransposeOfUnknown",
     "Transpose",
     13,
     {Type::tensor(DType::kFloat32)},
     {{"perm", Ints{1, 0}}},
     floats({kUnknown, kUnknown}),
     {}},
    {"Flatten", "Flatten", 13, {floats({kBatch, Dim(3), Dim(4)})}, {}, floats({kBatch, Dim(12)}), {}},
    {"Pad", "Pad", 13, {floats({kBatch, Dim(3)}), ints({0, 1, 0, -2})}, {}, floats({kBatch, Dim(2)}), {}},
    {"PadOfAnAxis",
     "Pad",
     18,
     {floats({kBatch, Dim(3)}), int64s(2), InferInput::missing(), ints({1})},
     {},
     floats({kBatch, kUnknown}),
     {}},
    {"NonZero",
     "NonZero",
     13,
     {floats({kBatch, Dim(3)})},
     {},
     Type::tensor(DType::kInt64, Dims{Dim(2), kUnknown}),
     {}},
    {"TopK", "TopK", 11, {floats({kBatch, Dim(9)}), ints({5})}, {}, floats({kBatch, Dim(5)}), {}},
    {"TopKOfUnknown", "TopK", 11, {floats({kBatch, Dim(9)}), int64s(1)}, {}, floats({kBatch, kUnknown}), {}},
    {"OneHot",
     "OneHot",
     11,
     {int64s(4), Tensor::scalar(6.0f), floats({Dim(2)})},
     {},
     floats({Dim(4), Dim(6)}),
     {}},
    {"GatherNd",
     "GatherND",
     13,
     {floats({kBatch, Dim(3), Dim(4)}), Type::tensor(DType::kInt64, Dims{kUnknown, Dim(2)})},
     {},
     floats({kUnknown, Dim(4)}),
     {}},
    {"DepthToSpace",
     "DepthToSpace",
     13,
     {floats({kBatch, Dim(8), Dim(2), Dim::symbol("w")})},
     {{"blocksize", int64_t{2}}},
     floats({kBatch, Dim(2), Dim(4), Dim::symbol("2*w")}),
     {}},
    {"EyeLike",
     "EyeLike",
     22,
     {floats({kBatch, Dim(3)})},
     {{"dtype", int64_t{7}}},
     Type::tensor(DType::kInt64, Dims{kBatch, Dim(3)}),
     {}},
};
INSTANTIATE_TEST_SUITE_P(All, Propagation, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Propagation, SplitGivesEachOutputItsExtents) {
  const InferResult r = infer_op("Split", 13, {kShape, ints({1, 2})}, {}, 2);
  EXPECT_EQ(r.types[1].str(), int64s(2).str());
  EXPECT_EQ(*r.extents[0], Dims{kBatch});
  EXPECT_EQ(*r.extents[1], (Dims{Dim(3), kUnknown}));
  const InferResult even = infer_op("Split", 18, {floats({kBatch, Dim(5)})},
                                    {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}, 2);
  EXPECT_EQ(even.types[1].str(), floats({kBatch, Dim(2)}).str());
}

TEST(Propagation, FollowsTheShapesOfAnExportedModel) {
  // x[batch, 4, 6] -> Shape -> Slice(0 : -2) -> Concat with [-1] -> Reshape, with Constant nodes for the
  // numbers.
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", floats({kBatch, Dim(4), Dim(6)}));
  const auto op = [&](const char* type, const LayerArguments& inputs, AttributeList attributes = {}) {
    return layer(g, type, inputs, {"y"}, {.attributes = std::move(attributes)})[0];
  };
  const auto constant = [&](Ints v) { return op("Constant", {}, {{"value", ints(std::move(v))}}); };
  Value* head = op("Slice", {op("Shape", {x}), constant({0}), constant({-2}), constant({0})});
  Value* shape = op("Concat", {head, constant({-1})}, {{"axis", int64_t{0}}});
  Value* y = op("Reshape", {x, shape});
  infer_shapes(model);
  EXPECT_EQ(y->type.str(), floats({kBatch, Dim(24)}).str());
}

TEST(Propagation, DeclaredExtentsCountUnlessTheyContradict) {
  const auto inferred = [](Dims declared) {
    Model model;
    model.opsets = {{"", 13}};
    Graph& g = *model.graph;
    Value* x = g.add_input("x", floats({Dim(2), Dim(3)}));
    Value* shape = g.add_input("shape", int64s(3));
    Value* y = g.add_value("y", floats(std::move(declared)));
    g.add_node("Expand", {x, shape}, {y}, {}, "y");
    infer_shapes(model);
    return y->type.str();
  };
  EXPECT_EQ(inferred({Dim(7), Dim(2), Dim(3)}), floats({Dim(7), Dim(2), Dim(3)}).str());
  EXPECT_EQ(inferred({Dim(7), kUnknown, kBatch}), floats({Dim(7), Dim(2), Dim(3)}).str());
  const std::string alone = inferred({kUnknown, kUnknown, kUnknown});
  EXPECT_EQ(inferred({Dim(2), Dim(3), Dim(4)}), alone) << "of another order";
  EXPECT_EQ(inferred({Dim(7), Dim(2)}), alone) << "of another rank";
}

TEST(Propagation, BrokenRulesThatAreKnownAreErrors) {
  const auto refuses = [](const char* op, int opset, std::vector<InferInput> inputs,
                          AttributeList attributes = {}) {
    EXPECT_THROW(infer_op(op, opset, std::move(inputs), std::move(attributes)), Error) << op;
  };
  refuses("Concat", 13, {floats({Dim(2), Dim(1)}), floats({Dim(3), Dim(1)})}, {{"axis", int64_t{1}}});
  refuses("Reshape", 13, {floats({Dim(4)}), ints({3})});
  refuses("Reshape", 13, {floats({Dim(4)}), ints({3, -1})});
  refuses("Reshape", 13, {floats({Dim(4)}), ints({-1, -1})});
  refuses("Reshape", 13, {floats({Dim(4)}), ints({4, 0})});
  refuses("Squeeze", 13, {floats({Dim(2)}), ints({0})});
  refuses("Split", 13, {floats({Dim(5)}), ints({1})});
  refuses("Pad", 13, {floats({Dim(2)}), ints({-2, -1})});
  refuses("TopK", 11, {floats({Dim(2)}), ints({3})});
  refuses("Gather", 13, {kShape, ints({3})});
  refuses("Tile", 13, {floats({Dim(2)}), ints({1, 1})});
  refuses("Cast", 13, {floats({Dim(2)})}, {{"to", int64_t{99}}});
  refuses("Transpose", 13, {floats({Dim(2)})}, {{"perm", Ints{1}}});
  refuses("Constant", 13, {}, {{"value_int", int64_t{1}}, {"value_float", 1.0f}});
}

}  // namespace
}  // namespace assay::propagation_test
