// Windows of pools and transposed convolutions: newer specifications clarify older versions.
#include "convert/convert_test_util.h"

namespace assay::windows_test {
namespace {

/// Version 22's rule on windows that would start after the input applies to all versions with ceil_mode.
TEST(WindowAdapters, PoolWindowsInThePaddingOnTheRight) {
  const Tensor x = Tensor::from<float>({1, 1, 5}, {1, 2, 3, 4, 5});
  const AttributeList how = {
      {"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"ceil_mode", int64_t{1}}};
  const auto check = [&](const char* op, const Ints& versions, const std::vector<float>& wanted) {
    for (const int64_t from : versions) {
      const OneNode node(op, from, {x}, how);
      const Tensor y = evaluate(node.model, node.feed)[0];
      EXPECT_EQ(y.shape(), (Shape{1, 1, 2})) << op << " " << from;
      EXPECT_TRUE(convert(y, DType::kFloat32).identical(floats(wanted).reshaped({1, 1, 2})))
          << op << " " << from;
      for (const int64_t to : versions) expect_same(node, to, {op});
    }
  };
  check("AveragePool", {10, 11, 19, 22}, {1, 3.5F});
  check("MaxPool", {10, 11, 12, 22}, {1, 4});
  check("LpPool", {18, 22}, {1, 5});
}

/// The greater half of an odd padding, as ONNX Runtime splits it in every version.
TEST(WindowAdapters, OddPaddingOfConvTranspose) {
  const Tensor x = Tensor::from<float>({1, 1, 3}, {1, 2, 3}),
               w = Tensor::from<float>({1, 1, 4}, {1, 10, 100, 1000});
  const auto check = [&](const AttributeList& how, const std::vector<float>& wanted) {
    for (const int64_t from : {1, 11, 22}) {
      const OneNode node("ConvTranspose", from, {x, w}, how);
      const Tensor y = convert(evaluate(node.model, node.feed)[0], DType::kFloat32);
      EXPECT_TRUE(y.identical(floats(wanted).reshaped({1, 1, static_cast<int64_t>(wanted.size())}))) << from;
      for (const int64_t to : {1, 11, 22}) {
        const std::shared_ptr<Model> copy = clone_model(*node.model);
        EXPECT_TRUE(convert_opset(*copy, {.version = to}).notes.empty());
        expect_same(node, to, {"ConvTranspose"});
      }
    }
  };
  const Ints five = {5};
  check({{"output_shape", five}}, {12, 123, 1230, 2300, 3000});
  check({{"output_shape", five}, {"auto_pad", std::string("SAME_UPPER")}}, {1, 12, 123, 1230, 2300});
  check({{"output_shape", five}, {"auto_pad", std::string("SAME_LOWER")}}, {12, 123, 1230, 2300, 3000});
  check({{"auto_pad", std::string("SAME_UPPER")}}, {12, 123, 1230});
  check({{"auto_pad", std::string("SAME_LOWER")}}, {123, 1230, 2300});
}

}  // namespace
}  // namespace assay::windows_test
