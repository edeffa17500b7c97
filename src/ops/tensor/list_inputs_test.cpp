// Inputs that are lists of numbers: inference demands what evaluation does, since code that rewrites nodes
// relies on it.
#include <gtest/gtest.h>

#include "ops/op_test_util.h"

namespace assay::list_inputs_test {
namespace {

struct ListInput {
  const char* op;
  int64_t opset;
  size_t input;
  std::vector<Type> types;
};

Type floats(Shape shape) { return Type::tensor(DType::kFloat32, shape); }
Type ints(Shape shape) { return Type::tensor(DType::kInt64, shape); }

TEST(ListInputs, AreVectorsForInference) {
  const Type image = floats({1, 1, 2, 3}), list = ints({4});
  const ListInput cases[] = {
      {"AffineGrid", 20, 1, {floats({1, 2, 3}), list}},
      {"CenterCropPad", 18, 1, {image, list}},
      {"Col2Im", 18, 1, {floats({1, 4, 4}), ints({2}), ints({2})}},
      {"Col2Im", 18, 2, {floats({1, 4, 4}), ints({2}), ints({2})}},
      {"ConstantOfShape", 9, 0, {list}},
      {"Expand", 13, 1, {image, list}},
      {"Pad", 13, 1, {image, ints({8})}},
      {"Pad", 19, 3, {image, ints({8}), floats({}), list}},
      {"Resize", 13, 3, {image, floats({0}), floats({0}), list}},
      {"ReverseSequence", 10, 1, {floats({4, 4}), list}},
      {"Slice", 13, 1, {image, list, list, list, list}},
      {"Slice", 13, 2, {image, list, list, list, list}},
      {"Slice", 13, 3, {image, list, list, list, list}},
      {"Slice", 13, 4, {image, list, list, list, list}},
      {"Split", 13, 1, {image, ints({1})}},
      {"Squeeze", 13, 1, {image, ints({1})}},
      {"Tile", 13, 1, {image, list}},
      {"Unsqueeze", 13, 1, {image, ints({1})}},
  };
  for (const ListInput& c : cases) {
    std::vector<InferInput> inputs(c.types.begin(), c.types.end());
    EXPECT_NO_THROW(infer_op(c.op, c.opset, inputs)) << c.op;
    inputs[c.input].type = ints({0, 4, 3, 2});
    EXPECT_THROW(infer_op(c.op, c.opset, inputs), Error) << c.op << ", input " << c.input;
  }
}

TEST(ListInputs, OfCenterCropPadHaveAnEntryForEachAxis) {
  EXPECT_NO_THROW(infer_op("CenterCropPad", 18, {floats({2, 3}), ints({2})}));
  EXPECT_THROW(infer_op("CenterCropPad", 18, {floats({2, 3}), ints({1})}), Error);
}

}  // namespace
}  // namespace assay::list_inputs_test
