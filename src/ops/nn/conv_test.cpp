#include "ops/nn/test_tensors.h"

namespace assay::conv_test {
namespace {

/// One convolution: `out` holds the extents that the specification's formula gives.
struct ConvCase {
  const char* what;
  Shape x, w;
  int64_t group;
  Ints strides, dilations, pads;
  Ints out;
};

/// The sum of the definition at output position `at`.
double convolution_at(const ConvCase& t, const Tensor& x, const Tensor& w, double bias, const Ints& at) {
  const Shape kernel(t.w.begin() + 2, t.w.end());
  const int64_t out_channel = at[1], channels = t.w[1];
  const int64_t group = out_channel / (t.w[0] / t.group);
  double sum = bias;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < kernel.numel(); ++tap) {
      int64_t rest = tap, index = at[0] * t.x[1] + group * channels + c;
      Ints taps(kernel.size());
      for (size_t d = kernel.size(); d-- > 0; rest /= kernel[d]) taps[d] = rest % kernel[d];
      bool inside = true;
      for (size_t d = 0; d < kernel.size(); ++d) {
        const int64_t p = at[d + 2] * t.strides[d] + taps[d] * t.dilations[d] - t.pads[d];
        inside = inside && p >= 0 && p < t.x[d + 2];
        index = index * t.x[d + 2] + p;
      }
      if (inside)
        sum +=
            x.data<double>()[index] * w.data<double>()[(out_channel * channels + c) * kernel.numel() + tap];
    }
  }
  return sum;
}

class Conv : public testing::TestWithParam<ConvCase> {};

TEST_P(Conv, EqualsTheDefinition) {
  const ConvCase& t = GetParam();
  const Tensor x = random_tensor(t.x, 1), w = random_tensor(t.w, 2), bias = random_tensor({t.w[0]}, 3);
  const AttributeList attributes = {
      {"group", t.group}, {"strides", t.strides}, {"dilations", t.dilations}, {"pads", t.pads}};
  const Tensor y = run_op("Conv", 11, {x, w, bias}, attributes)[0];
  ASSERT_EQ(y.shape().dims(), t.out);
  for (int64_t i = 0; i < y.numel(); ++i) {
    Ints at(t.out.size());
    for (int64_t d = y.rank() - 1, rest = i; d >= 0; rest /= t.out[static_cast<size_t>(d)], --d)
      at[static_cast<size_t>(d)] = rest % t.out[static_cast<size_t>(d)];
    ASSERT_NEAR(y.data<double>()[i], convolution_at(t, x, w, bias.data<double>()[at[1]], at), 1e-12)
        << t.what << " at " << i;
  }
  EXPECT_EQ(infer_op("Conv", 11, {x, w, bias}, attributes).types[0],
            Type::tensor(DType::kFloat64, y.shape()));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Conv,
    testing::Values(
        ConvCase{"plain 3x3", {1, 3, 9, 11}, {5, 3, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, {1, 5, 9, 11}},
        ConvCase{"strided, uneven padding",
                 {2, 4, 13, 10},
                 {6, 4, 3, 5},
                 1,
                 {2, 3},
                 {1, 1},
                 {2, 0, 1, 3},
                 {2, 6, 7, 3}},
        ConvCase{"dilated", {1, 2, 12, 12}, {3, 2, 3, 3}, 1, {1, 2}, {3, 2}, {3, 2, 3, 2}, {1, 3, 12, 6}},
        ConvCase{"padding wider than the kernel",
                 {1, 1, 2, 2},
                 {1, 1, 2, 2},
                 1,
                 {1, 1},
                 {1, 1},
                 {4, 4, 4, 4},
                 {1, 1, 9, 9}},
        ConvCase{"pointwise", {3, 8, 5, 7}, {9, 8, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {3, 9, 5, 7}},
        ConvCase{
            "pointwise, strided", {1, 8, 5, 7}, {9, 8, 1, 1}, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 9, 3, 4}},
        ConvCase{"one pixel", {1, 40, 1, 1}, {33, 40, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 33, 1, 1}},
        ConvCase{"grouped", {2, 6, 6, 6}, {9, 2, 3, 3}, 3, {1, 1}, {1, 1}, {1, 1, 0, 0}, {2, 9, 5, 5}},
        ConvCase{"depthwise", {2, 5, 9, 9}, {5, 1, 3, 3}, 5, {2, 1}, {1, 2}, {1, 2, 1, 2}, {2, 5, 5, 9}},
        ConvCase{"depthwise, two kernels a channel",
                 {1, 3, 4, 6},
                 {6, 1, 3, 3},
                 3,
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1},
                 {1, 6, 4, 6}},
        ConvCase{"1-D", {2, 3, 40}, {4, 3, 7}, 1, {3}, {2}, {5, 1}, {2, 4, 12}},
        ConvCase{"3-D",
                 {1, 2, 5, 6, 7},
                 {3, 2, 2, 3, 3},
                 1,
                 {1, 2, 1},
                 {2, 1, 1},
                 {1, 1, 0, 0, 1, 1},
                 {1, 3, 4, 3, 6}},
        ConvCase{"3-D depthwise",
                 {1, 2, 4, 4, 4},
                 {2, 1, 2, 2, 2},
                 2,
                 {1, 1, 2},
                 {1, 1, 1},
                 {0, 0, 1, 1, 0, 0},
                 {1, 2, 4, 3, 2}},
        ConvCase{"several blocks",
                 {1, 40, 30, 41},
                 {11, 40, 3, 3},
                 1,
                 {1, 1},
                 {1, 1},
                 {1, 1, 1, 1},
                 {1, 11, 30, 41}},
        ConvCase{"no images", {0, 3, 5, 5}, {2, 3, 3, 3}, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, {0, 2, 3, 3}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(ConvShape, AutoPadGivesTheExtentsOfTheSpecification) {
  const Tensor x = random_tensor({1, 1, 5, 6}, 1), w = random_tensor({1, 1, 3, 4}, 2);
  const auto shape = [&](const char* auto_pad) {
    return run_op("Conv", 11, {x, w}, {{"auto_pad", auto_pad}, {"strides", Ints{2, 2}}})[0].shape();
  };
  EXPECT_EQ(shape("SAME_UPPER"), (Shape{1, 1, 3, 3}));
  EXPECT_EQ(shape("SAME_LOWER"), (Shape{1, 1, 3, 3}));
  EXPECT_EQ(shape("VALID"), (Shape{1, 1, 2, 2}));
}

TEST(ConvShape, AutoPadPutsTheOddElementWhereItsNameSays) {
  const Tensor x = Tensor::from<double>({1, 1, 3}, {1, 2, 4}), w = Tensor::from<double>({1, 1, 2}, {1, 1});
  const auto values = [&](const char* auto_pad) {
    const Tensor y = run_op("Conv", 11, {x, w}, {{"auto_pad", auto_pad}})[0];
    return std::vector<double>(y.span<double>().begin(), y.span<double>().end());
  };
  EXPECT_EQ(values("SAME_UPPER"), (std::vector<double>{3, 6, 4}));
  EXPECT_EQ(values("SAME_LOWER"), (std::vector<double>{1, 3, 6}));
}

TEST(ConvShape, KeepsSymbols) {
  const Type x =
      Type::tensor(DType::kFloat32, {Dim::symbol("batch"), Dim(3), Dim::symbol("h"), Dim::symbol("w")});
  const Type w = Type::tensor(DType::kFloat32, Shape{8, 3, 3, 3});
  EXPECT_EQ(infer_op("Conv", 11, {x, w}, {{"pads", Ints{1, 1, 1, 1}}}).str(), "float32[batch, 8, h, w]");
  EXPECT_EQ(infer_op("Conv", 11, {x, w}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}).str(),
            "float32[batch, 8, (h+1)/2, (w+1)/2]");
  EXPECT_EQ(infer_op("Conv", 11, {x, Type::tensor(DType::kFloat32)}).str(), "float32[batch, ?, ?, ?]");
}

TEST(ConvErrors, NameTheBrokenRule) {
  const Tensor x = random_tensor({1, 4, 5, 5}, 1), w = random_tensor({2, 4, 3, 3}, 2);
  expect_refused(
      "Conv", 11,
      {{{x, random_tensor({2, 3, 3, 3}, 2)},
        {},
        "the input has 4 channels, but the weights take 3 in each of 1 groups"},
       {{x, w}, {{"group", int64_t{3}}}, "3 groups do not divide 4 input channels"},
       {{x, random_tensor({3, 2, 3, 3}, 2)},
        {{"group", int64_t{2}}},
        "2 groups do not divide 3 output channels"},
       {{x, w}, {{"group", int64_t{0}}}, "attribute 'group' is 0"},
       {{x, w}, {{"strides", Ints{0, 1}}}, "attribute 'strides' has 0"},
       {{x, w}, {{"strides", Ints{1}}}, "attribute 'strides' has 1 numbers where the input needs 2"},
       {{x, w}, {{"dilations", Ints{1, int64_t{1} << 40}}}, "attribute 'dilations' has 1099511627776"},
       {{x, w}, {{"pads", Ints{-1, 0, 0, 0}}}, "attribute 'pads' has -1"},
       {{x, random_tensor({2, 4, 3, 7}, 2)}, {}, "a window that spans 7 does not fit in an extent of 5"},
       {{x, w}, {{"kernel_shape", Ints{3, 2}}}, "kernel_shape (3, 2) differs from the (3, 3)"},
       {{x, w}, {{"auto_pad", std::string("SAME")}}, "auto_pad 'SAME' is none of"},
       {{x, random_tensor({2, 4, 3}, 2)}, {}, "weights"},
       {{random_tensor({1, 4}, 1), random_tensor({2, 4}, 2)}, {}, "batch, channels"}});
}

TEST(ConvErrors, BiasOfTheWrongLength) {
  const Tensor x = random_tensor({1, 1, 3, 3}, 1), w = random_tensor({2, 1, 3, 3}, 2),
               b = random_tensor({3}, 3);
  EXPECT_THROW(run_op("Conv", 11, {x, w, b}), Error);
}

}  // namespace
}  // namespace assay::conv_test
