#include "ops/nn/test_tensors.h"

namespace assay::conv_transpose_test {
namespace {

double inner_product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.numel(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

struct TransposeCase {
  const char* what;
  Shape x, w;  ///< of the convolution
  int64_t group;
  Ints strides, dilations, pads;
};

class ConvTranspose : public testing::TestWithParam<TransposeCase> {};

// <conv(x), y> = <x, conv_transpose(y)> defines the operator, for the output padding that gives back the
// extents of x.
TEST_P(ConvTranspose, IsTheTransposeOfConv) {
  const TransposeCase& t = GetParam();
  const Tensor x = random_tensor(t.x, 1), w = random_tensor(t.w, 2);
  AttributeList attributes = {
      {"group", t.group}, {"strides", t.strides}, {"dilations", t.dilations}, {"pads", t.pads}};
  const Tensor forward = run_op("Conv", 11, {x, w}, attributes)[0], y = random_tensor(forward.shape(), 3);
  Ints rest;
  for (size_t d = 2; d < t.x.size(); ++d) {
    const size_t i = d - 2;
    rest.push_back(t.x[d] - (t.strides[i] * (y.dim(d) - 1) + (t.w[d] - 1) * t.dilations[i] + 1 - t.pads[i] -
                             t.pads[i + t.strides.size()]));
  }
  attributes.emplace_back("output_padding", rest);
  const Tensor back = run_op("ConvTranspose", 11, {y, w}, attributes)[0];
  ASSERT_EQ(back.shape(), x.shape());
  EXPECT_NEAR(inner_product(forward, y), inner_product(x, back), 1e-10) << t.what;
  EXPECT_EQ(infer_op("ConvTranspose", 11, {y, w}, attributes).types[0],
            Type::tensor(DType::kFloat64, back.shape()));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ConvTranspose,
    testing::Values(
        TransposeCase{"plain", {1, 3, 9, 11}, {5, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        TransposeCase{"strided, uneven", {2, 4, 13, 10}, {6, 4, 3, 5}, 1, {2, 3}, {1, 1}, {2, 0, 1, 3}},
        TransposeCase{"dilated, grouped", {1, 4, 12, 12}, {6, 2, 3, 3}, 2, {1, 2}, {3, 2}, {3, 2, 3, 2}},
        TransposeCase{"depthwise", {2, 5, 9, 9}, {5, 1, 3, 3}, 5, {2, 1}, {1, 2}, {1, 2, 1, 2}},
        TransposeCase{"1-D", {2, 3, 40}, {4, 3, 7}, 1, {3}, {2}, {5, 1}},
        TransposeCase{"3-D", {1, 2, 5, 6, 7}, {3, 2, 2, 3, 3}, 1, {1, 2, 1}, {2, 1, 1}, {1, 1, 0, 0, 1, 1}},
        TransposeCase{"many positions", {1, 2, 300, 310}, {3, 2, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(ConvTransposeShape, OutputShapeAndAutoPadPlaceThePadding) {
  const Tensor x = Tensor::from<double>({1, 1, 2}, {1, 10}), w = Tensor::from<double>({1, 1, 3}, {1, 2, 3});
  const auto run = [&](AttributeList attributes) {
    attributes.emplace_back("strides", Ints{2});
    return values(run_op("ConvTranspose", 11, {x, w}, std::move(attributes))[0]);
  };
  EXPECT_EQ(run({}), (Values{1, 2, 13, 20, 30}));
  EXPECT_EQ(run({{"auto_pad", std::string("SAME_UPPER")}}), (Values{1, 2, 13, 20}));
  EXPECT_EQ(run({{"auto_pad", std::string("SAME_LOWER")}}), (Values{2, 13, 20, 30}));
  EXPECT_EQ(run({{"output_shape", Ints{3}}}), (Values{2, 13, 20}));
  EXPECT_EQ(run({{"output_shape", Ints{7}}}), (Values{1, 2, 13, 20, 30, 0, 0}));
  EXPECT_EQ(run({{"output_padding", Ints{1}}, {"pads", Ints{1, 0}}}), (Values{2, 13, 20, 30, 0}));
}

TEST(ConvTransposeShape, AddsTheBiasWhereNothingReaches) {
  const Tensor x = Tensor::from<double>({1, 1, 2}, {1, 1}), w = Tensor::from<double>({1, 1, 1}, {5});
  const Tensor y =
      run_op("ConvTranspose", 11, {x, w, Tensor::vector<double>({2})}, {{"strides", Ints{2}}})[0];
  EXPECT_EQ(values(y), (Values{7, 2, 7}));
}

TEST(ConvTransposeShape, KeepsSymbols) {
  const Type x = Type::tensor(DType::kFloat32, {Dim::symbol("n"), Dim(4), Dim::symbol("h")});
  EXPECT_EQ(infer_op("ConvTranspose", 11, {x, Type::tensor(DType::kFloat32, Shape{4, 3, 4})},
                     {{"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"group", int64_t{2}}})
                .str(),
            "float32[n, 6, 2*h]");
}

TEST(ConvTransposeErrors, NameTheBrokenRule) {
  const Tensor x = random_tensor({1, 4, 2, 2}, 1), w = random_tensor({4, 2, 3, 3}, 2);
  expect_refused(
      "ConvTranspose", 11,
      {{{x, random_tensor({3, 2, 3, 3}, 2)}, {}, "the input has 4 channels, but the weights take 3"},
       {{x, w}, {{"pads", Ints{3, 0, 3, 0}}}, "pads 3 and 3 take more than the extent of 4"},
       {{x, w}, {{"output_padding", Ints{-1, 0}}}, "attribute 'output_padding' has -1"},
       {{x, w}, {{"output_shape", Ints{1, 2, 4, 4}}}, "attribute 'output_shape' has 4 numbers"},
       {{x, w}, {{"group", int64_t{3}}}, "3 groups do not divide 4 input channels"}});
}

}  // namespace
}  // namespace assay::conv_transpose_test
