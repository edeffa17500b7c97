#include <cmath>
#include <limits>

#include "ops/nn/test_tensors.h"

namespace assay::pool_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct PoolCase {
  Shape x;
  Ints kernel, strides, dilations, pads;
  bool ceil_mode;
  Ints out;  ///< as the specification's formula gives
};

/// The elements of one window, in row-major order, and the number of taps within the padding.
struct Taps {
  Values inside;
  int64_t padded = 0;
};

Taps taps_at(const PoolCase& t, const Tensor& x, const Ints& at) {
  const Shape kernel(t.kernel.begin(), t.kernel.end());
  Taps taps;
  for (int64_t tap = 0; tap < kernel.numel(); ++tap) {
    int64_t rest = tap, index = at[0] * t.x[1] + at[1];
    Ints place(kernel.size());
    for (size_t d = kernel.size(); d-- > 0; rest /= kernel[d])
      place[d] = at[d + 2] * t.strides[d] + rest % kernel[d] * t.dilations[d] - t.pads[d];
    bool inside = true, padded = true;
    for (size_t d = 0; d < kernel.size(); ++d) {
      inside = inside && place[d] >= 0 && place[d] < t.x[d + 2];
      padded = padded && place[d] < t.x[d + 2] + t.pads[d + kernel.size()];
      index = index * t.x[d + 2] + place[d];
    }
    if (inside) taps.inside.push_back(x.data<double>()[index]);
    taps.padded += padded ? 1 : 0;
  }
  return taps;
}

class Pool : public testing::TestWithParam<PoolCase> {};

TEST_P(Pool, EqualsTheDefinition) {
  const PoolCase& t = GetParam();
  const Tensor x = random_tensor(t.x, 1);
  const auto run = [&](const char* op, AttributeList attributes) {
    attributes.insert(attributes.end(), {{"kernel_shape", t.kernel},
                                         {"strides", t.strides},
                                         {"dilations", t.dilations},
                                         {"pads", t.pads},
                                         {"ceil_mode", int64_t{t.ceil_mode}}});
    EXPECT_EQ(infer_op(op, 22, {x}, attributes).types[0], Type::tensor(DType::kFloat64, Shape(t.out)));
    return run_op(op, 22, {x}, std::move(attributes))[0];
  };
  const Tensor largest = run("MaxPool", {}), mean = run("AveragePool", {}),
               norm = run("LpPool", {{"p", int64_t{3}}});
  const Tensor padded_mean = run("AveragePool", {{"count_include_pad", int64_t{1}}});
  ASSERT_EQ(largest.shape().dims(), t.out);
  for (int64_t i = 0; i < largest.numel(); ++i) {
    Ints at(t.out.size());
    for (size_t d = t.out.size(), rest = static_cast<size_t>(i); d-- > 0;
         rest /= static_cast<size_t>(t.out[d]))
      at[d] = static_cast<int64_t>(rest) % t.out[d];
    const Taps taps = taps_at(t, x, at);
    double most = -std::numeric_limits<double>::infinity(), sum = 0, cubes = 0;
    for (const double v : taps.inside) {
      most = std::max(most, v);
      sum += v;
      cubes += std::pow(std::fabs(v), 3);
    }
    EXPECT_EQ(largest.data<double>()[i], most) << i;
    EXPECT_NEAR(mean.data<double>()[i], sum / static_cast<double>(taps.inside.size()), 1e-13) << i;
    EXPECT_NEAR(padded_mean.data<double>()[i], sum / static_cast<double>(taps.padded), 1e-13) << i;
    EXPECT_NEAR(norm.data<double>()[i], std::cbrt(cubes), 1e-13) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Pool,
    testing::Values(
        PoolCase{{2, 3, 8, 9}, {3, 2}, {2, 2}, {1, 1}, {1, 0, 1, 1}, false, {2, 3, 4, 5}},
        PoolCase{{1, 2, 8, 9}, {3, 3}, {2, 3}, {1, 1}, {0, 0, 0, 0}, true, {1, 2, 4, 3}},
        PoolCase{{1, 2, 9, 7}, {3, 3}, {2, 2}, {2, 1}, {2, 1, 1, 1}, true, {1, 2, 5, 4}},
        PoolCase{{1, 1, 3}, {4}, {2}, {1}, {0, 0}, true, {1, 1, 1}},
        PoolCase{{2, 1, 12}, {4}, {3}, {2}, {1, 2}, false, {2, 1, 3}},
        PoolCase{
            {1, 2, 4, 5, 6}, {2, 3, 2}, {2, 1, 2}, {1, 2, 1}, {0, 2, 1, 1, 2, 0}, false, {1, 2, 2, 5, 3}},
        PoolCase{{0, 3, 4, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, false, {0, 3, 2, 2}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(MaxPool, DropsALastWindowThatStartsInThePadding) {
  const Tensor x = Tensor::from<double>({1, 1, 3}, {1, 2, 3});
  const AttributeList attributes = {
      {"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"pads", Ints{0, 0}}, {"ceil_mode", int64_t{1}}};
  EXPECT_EQ(values(run_op("MaxPool", 12, {x}, attributes)[0]), (Values{1, 3}));
  const Tensor even = Tensor::from<double>({1, 1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(values(run_op("MaxPool", 12, {even}, attributes)[0]), (Values{1, 3}));
}

TEST(MaxPool, IndicesCountInEitherOrder) {
  const Tensor x = Tensor::from<double>({1, 2, 2, 3}, {9, 1, 2, 3, 4, 8, 1, 7, 2, 5, 7, 1});
  const auto indices = [&](int64_t order) {
    return run_op("MaxPool", 12, {x}, {{"kernel_shape", Ints{2, 2}}, {"storage_order", order}}, 2)[1]
        .to_int64();
  };
  EXPECT_EQ(indices(0), (Ints{0, 5, 7, 7}));
  EXPECT_EQ(indices(1), (Ints{0, 5, 8, 8}));
}

TEST(MaxPool, NanWinsAndIntegersStay) {
  const Tensor x = Tensor::from<double>({1, 1, 4}, {1, kNan, 2, 3});
  const Tensor y = run_op("MaxPool", 12, {x}, {{"kernel_shape", Ints{2}}})[0];
  EXPECT_TRUE(std::isnan(y.data<double>()[0]) && std::isnan(y.data<double>()[1]));
  EXPECT_EQ(y.data<double>()[2], 3);
  const Tensor bytes = Tensor::from<int8_t>({1, 1, 3}, {-128, -5, 127});
  EXPECT_EQ(run_op("MaxPool", 12, {bytes}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}})[0].to_int64(),
            (Ints{-128, -5, 127}));
}

TEST(PoolShape, KeepsSymbolsWhereTheRuleIsOne) {
  const Type x = Type::tensor(DType::kFloat32, {Dim::symbol("n"), Dim(3), Dim::symbol("h")});
  const auto infer = [&](AttributeList attributes) {
    return infer_op("MaxPool", 12, {x}, std::move(attributes)).str();
  };
  EXPECT_EQ(infer({{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}), "float32[n, 3, h/2]");
  EXPECT_EQ(infer({{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}}),
            "float32[n, 3, h/2]");
  EXPECT_EQ(
      infer(
          {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{0, 1}}, {"ceil_mode", int64_t{1}}}),
      "float32[n, 3, ?]");
}

TEST(PoolErrors, NameTheBrokenRule) {
  const Tensor x = random_tensor({1, 2, 4, 4}, 1);
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    expect_refused(
        op, 22,
        {{{x}, {}, "the required attribute 'kernel_shape' is missing"},
         {{x}, {{"kernel_shape", Ints{2, 0}}}, "attribute 'kernel_shape' has 0"},
         {{x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}}, "attribute 'strides' has 0"},
         {{x}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{0, 0, 0}}}, "attribute 'pads' has 3 numbers"},
         {{x}, {{"kernel_shape", Ints{5, 2}}}, "a window that spans 5 does not fit in an extent of 4"},
         {{random_tensor({4, 4}, 1)}, {{"kernel_shape", Ints{2}}}, "batch, channels"}});
  EXPECT_THROW(run_op("LpPool", 22, {x}, {{"kernel_shape", Ints{2, 2}}, {"p", int64_t{0}}}), Error);
}

TEST(GlobalPool, ReducesEveryPlane) {
  const Tensor x = Tensor::from<double>({1, 2, 2, 2}, {1, 2, 3, -6, kNan, 0, 1, 1});
  EXPECT_EQ(run_op("GlobalAveragePool", 22, {x})[0].data<double>()[0], 0);
  const Tensor most = run_op("GlobalMaxPool", 22, {x})[0];
  EXPECT_EQ(most.shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(most.data<double>()[0], 3);
  EXPECT_TRUE(std::isnan(most.data<double>()[1]));
  EXPECT_NEAR(run_op("GlobalLpPool", 22, {x})[0].data<double>()[0], std::sqrt(50.0), 1e-14);
  EXPECT_THROW(run_op("GlobalMaxPool", 22, {random_tensor({1, 2, 0}, 1)}), Error);
}

TEST(MaxUnpool, UndoesMaxPool) {
  const Tensor x = random_tensor({2, 3, 6, 8}, 1);
  const AttributeList attributes = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  const std::vector<Tensor> pooled = run_op("MaxPool", 12, {x}, attributes, 2);
  const Tensor back = run_op("MaxUnpool", 11, pooled, attributes)[0];
  ASSERT_EQ(back.shape(), x.shape());
  for (int64_t i = 0, n = 0; i < x.numel(); ++i)
    if (back.data<double>()[i] != 0) {
      ASSERT_EQ(back.data<double>()[i], x.data<double>()[i]);
      ASSERT_LE(++n, pooled[0].numel());
    }
  const Tensor far = Tensor::from<int64_t>({1, 1, 1, 1}, {99}), one = random_tensor({1, 1, 1, 1}, 1);
  expect_error(
      [&] {
        run_op("MaxUnpool", 11, {one, far}, attributes);
      },
      "index 99 is outside the 4 elements");
}

}  // namespace
}  // namespace assay::pool_test
