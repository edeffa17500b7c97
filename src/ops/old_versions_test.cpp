// The meaning of operators before opset 7, where it differs from today's.
#include <gtest/gtest.h>

#include <limits>

#include "ops/op_test_util.h"

namespace assay::old_versions_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

Tensor floats(const Shape& shape, const Floats& values) { return Tensor::from<float>(shape, values); }

Floats floats(const Tensor& t) {
  const Tensor f = convert(t, DType::kFloat32);
  return {f.data<float>(), f.data<float>() + f.numel()};
}

std::string failure(std::string_view op, int64_t opset, std::vector<Tensor> inputs,
                    AttributeList attributes) {
  try {
    run_op(op, opset, std::move(inputs), std::move(attributes));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(OldVersions, BroadcastMeetsTheFirstInputFromAnAxisOn) {
  const Tensor a = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  const AttributeList on = {{"broadcast", int64_t{1}}};
  AttributeList rows = on, columns = on;
  rows.emplace_back("axis", int64_t{0});
  columns.emplace_back("axis", int64_t{1});
  const Floats by_row = {0, 1, 2, 103, 104, 105}, by_column = {0, 101, 202, 3, 104, 205};
  EXPECT_EQ(floats(run_op("Add", 6, {a, floats({2}, {0, 100})}, rows)[0]), by_row);
  EXPECT_EQ(floats(run_op("Add", 6, {a, floats({2, 1}, {0, 100})}, rows)[0]), by_row);
  EXPECT_EQ(floats(run_op("Add", 6, {a, floats({3}, {0, 100, 200})}, columns)[0]), by_column);
  EXPECT_EQ(floats(run_op("Add", 1, {a, floats({3}, {0, 100, 200})}, on)[0]), by_column);
  EXPECT_EQ(floats(run_op("Add", 1, {a, floats({}, {1})}, on)[0]), (Floats{1, 2, 3, 4, 5, 6}));
}

TEST(OldVersions, BroadcastMustBeAskedForAndFit) {
  const Tensor a = floats({2, 3}, {0, 1, 2, 3, 4, 5}), row = floats({3}, {0, 100, 200});
  const AttributeList on = {{"broadcast", int64_t{1}}};
  EXPECT_NE(failure("Mul", 6, {a, row}, {}).find("does not ask for broadcasting"), std::string::npos);
  EXPECT_NE(failure("Mul", 6, {row, a}, on).find("has 2 dimensions, the first only 1"), std::string::npos);
  EXPECT_NE(failure("Mul", 6, {a, floats({2}, {1, 2})}, on).find("does not fit"), std::string::npos);
  EXPECT_NE(
      failure("Mul", 6, {a, row}, {{"broadcast", int64_t{1}}, {"axis", int64_t{2}}}).find("from axis 2 on"),
      std::string::npos);
  EXPECT_NE(failure("Mul", 6, {a, floats({1, 3}, {1, 2, 3})}, {}).find("does not fit"), std::string::npos);
}

TEST(OldVersions, ComparisonsAndLogicBroadcastTheSameWay) {
  const AttributeList rows = {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
  const Tensor a = floats({2, 2}, {1, 5, 1, 5}), b = floats({2}, {0, 3});
  const Tensor greater = run_op("Greater", 1, {a, b}, rows)[0];
  EXPECT_TRUE(greater.identical(Tensor::from<bool>({2, 2}, std::array{true, true, false, true})));
  const Tensor both = run_op("And", 1, {greater, Tensor::vector(std::vector<bool>{false, true})}, rows)[0];
  EXPECT_TRUE(both.identical(Tensor::from<bool>({2, 2}, std::array{false, false, false, true})));
  const InferResult type =
      infer_op("Less", 1, {Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), 3}), b}, rows);
  EXPECT_EQ(type.str(), "bool[n, 3]");
}

TEST(OldVersions, PReluHasASlopeForEachChannel) {
  const Tensor x = floats({1, 2, 2}, {-1, 1, -1, -2});
  EXPECT_EQ(floats(run_op("PRelu", 6, {x, floats({2}, {10, 100})})[0]), (Floats{-10, 1, -100, -200}));
  EXPECT_EQ(floats(run_op("PRelu", 6, {x, floats({1}, {10})})[0]), (Floats{-10, 1, -10, -20}));
  EXPECT_NE(failure("PRelu", 6, {x, floats({3}, {1, 2, 3})}, {}).find("no number for each channel"),
            std::string::npos);
}

TEST(OldVersions, GemmRepeatsItsBiasOnlyWhenAsked) {
  const Tensor a = floats({1, 1}, {2}), b = floats({1, 2}, {3, 4}), c = floats({2}, {10, 20});
  EXPECT_EQ(floats(run_op("Gemm", 6, {a, b, c}, {{"broadcast", int64_t{1}}})[0]), (Floats{16, 28}));
  EXPECT_NE(failure("Gemm", 6, {a, b, c}, {}).find("does not ask for it"), std::string::npos);
}

TEST(OldVersions, IsTestDecidesBetweenInferenceAndTraining) {
  const Tensor x = floats({1, 1, 2}, {1, 3}), one = floats({1}, {1}), zero = floats({1}, {0});
  const AttributeList test = {{"is_test", int64_t{1}}, {"epsilon", 0.0F}};
  EXPECT_EQ(floats(run_op("BatchNormalization", 6, {x, one, zero, zero, one}, test)[0]), (Floats{1, 3}));
  const AttributeList training = {{"epsilon", 0.0F}};
  EXPECT_EQ(floats(run_op("BatchNormalization", 6, {x, one, zero, zero, one}, training, 5)[0]),
            (Floats{-1, 1}));
  EXPECT_EQ(floats(run_op("Dropout", 6, {x}, {{"is_test", int64_t{1}}})[0]), (Floats{1, 3}));
  const Tensor many = floats({1000}, Floats(1000, 1));
  const Floats dropped = floats(run_op("Dropout", 6, {many}, {{"ratio", 0.25F}})[0]);
  const auto zeros = std::count(dropped.begin(), dropped.end(), 0.0F);
  EXPECT_GT(zeros, 200);
  EXPECT_LT(zeros, 300);
  EXPECT_EQ(std::count(dropped.begin(), dropped.end(), static_cast<float>(1 / 0.75)), 1000 - zeros);
}

TEST(OldVersions, AttributesWithOtherNamesAndKinds) {
  const Tensor x = floats({2}, {-1, 2});
  EXPECT_EQ(run_op("Cast", 1, {x}, {{"to", std::string("INT32")}})[0].dtype(), DType::kInt32);
  EXPECT_NE(failure("Cast", 1, {x}, {{"to", std::string("COLOUR")}}).find("'COLOUR'"), std::string::npos);
  EXPECT_EQ(floats(run_op("Clip", 1, {x}, {{"max", 1.0F}})[0]), (Floats{-1, 1}));
  const Tensor image = floats({1, 1, 1, 2}, {1, 2});
  EXPECT_EQ(run_op("Concat", 1, {image, image})[0].shape(), (Shape{1, 2, 1, 2}));
  EXPECT_EQ(floats(run_op("Pad", 1, {x}, {{"paddings", Ints{1, 0}}})[0]), (Floats{0, -1, 2}));
  EXPECT_EQ(run_op("Reshape", 1, {image}, {{"shape", Ints{0, -1}}})[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(floats(run_op("Upsample", 1, {image}, {{"height_scale", 1.0F}, {"width_scale", 2.0F}})[0]),
            (Floats{1, 1, 2, 2}));
  EXPECT_FLOAT_EQ(floats(run_op("GlobalLpPool", 1, {floats({1, 1, 2}, {3, 4})}, {{"p", 2.0F}})[0])[0], 5);
}

TEST(OldVersions, InputsInPlaceOfAttributes) {
  const Tensor x = floats({3}, {1, 2, 3});
  EXPECT_EQ(floats(run_op("Tile", 1, {x, floats({1}, {2}), floats({1}, {0})})[0]),
            (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_NE(failure("Tile", 1, {x, floats({1}, {1.5}), floats({1}, {0})}, {}).find("not a whole number"),
            std::string::npos);
  const std::vector<Tensor> pieces = run_op("Split", 1, {x, floats({2}, {1, 2})}, {}, 2);
  EXPECT_EQ(floats(pieces[0]), Floats{1});
  EXPECT_EQ(floats(pieces[1]), (Floats{2, 3}));
}

TEST(OldVersions, InferenceOfReshapeWithAnAttribute) {
  const AttributeList shape = {{"shape", Ints{0, -1}}};
  EXPECT_EQ(infer_op("Reshape", 1, {Type::tensor(DType::kFloat32, Shape{2, 3, 4})}, shape).str(),
            "float32[2, 12]");
  EXPECT_EQ(infer_op("Reshape", 1, {Type::tensor(DType::kFloat32)}, {{"shape", Ints{4, -1}}}).str(),
            "float32[4, ?]");
}

}  // namespace
}  // namespace assay::old_versions_test
