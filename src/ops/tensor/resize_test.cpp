#include <gtest/gtest.h>

#include <cmath>

#include "ops/op_test_util.h"

namespace assay::resize_test {
namespace {

using Floats = std::vector<float>;

Tensor row(Floats values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor::from<float>({1, 1, 1, n}, values);
}

std::vector<double> numbers(const Tensor& t) {
  const Tensor d = to_float64(t);
  return {d.data<double>(), d.data<double>() + d.numel()};
}

/// The last axis of four resized by a scale.
std::vector<double> scaled(const Tensor& x, float scale, AttributeList attributes, int opset = 19) {
  return numbers(run_op("Resize", opset, {x, Tensor(), Tensor::vector<float>({1, 1, 1, scale})},
                        std::move(attributes))[0]);
}

std::vector<double> sized(const Tensor& x, int64_t size, AttributeList attributes) {
  return numbers(run_op("Resize", 19, {x, Tensor(), Tensor(), Tensor::vector<int64_t>({1, 1, 1, size})},
                        std::move(attributes))[0]);
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(Resize, RoundsNearestFourWays) {
  // Half-pixel coordinates of 4 -> 8 are -0.25, 0.25, 0.75, ...; of 6 -> 3 they are 0.5, 2.5, 4.5, all ties.
  const Tensor x = row({0, 1, 2, 3, 4, 5});
  const auto nearest = [&](const char* mode) { return sized(x, 3, {{"nearest_mode", mode}}); };
  expect_near(nearest("round_prefer_floor"), {0, 2, 4});
  expect_near(nearest("round_prefer_ceil"), {1, 3, 5});
  expect_near(nearest("floor"), {0, 2, 4});
  expect_near(nearest("ceil"), {1, 3, 5});
}

TEST(Resize, KnowsEveryCoordinateTransformation) {
  const Tensor x = row({0, 1, 2, 3});
  const auto linear = [&](const char* mode) {
    return scaled(x, 2, {{"mode", "linear"}, {"coordinate_transformation_mode", mode}});
  };
  expect_near(linear("half_pixel"), {0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3});
  expect_near(linear("asymmetric"), {0, 0.5, 1, 1.5, 2, 2.5, 3, 3});
  expect_near(linear("align_corners"), {0, 3 / 7.0, 6 / 7.0, 9 / 7.0, 12 / 7.0, 15 / 7.0, 18 / 7.0, 3});
  expect_near(linear("pytorch_half_pixel"), linear("half_pixel"));
  expect_near(linear("half_pixel_symmetric"), linear("half_pixel"));
  expect_near(sized(x, 1, {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}),
              {0});
  expect_near(scaled(x, 2,
                     {{"mode", "nearest"},
                      {"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                      {"nearest_mode", "floor"}},
                     11),
              {0, 0, 1, 1, 2, 2, 3, 3});
}

TEST(Resize, CropsAndExtrapolates) {
  const Tensor x = Tensor::vector<float>({0, 1, 2, 3, 4});
  const AttributeList attributes = {{"mode", "linear"},
                                    {"coordinate_transformation_mode", "tf_crop_and_resize"},
                                    {"extrapolation_value", 9.0f}};
  const Tensor y =
      run_op("Resize", 13, {x, Tensor::vector<float>({0.25f, 1.25f}), Tensor(), Tensor::vector<int64_t>({3})},
             attributes)[0];
  expect_near(numbers(y), {1, 3, 9});
}

TEST(Resize, CubicSumsToOneAndAntialiasingAverages) {
  expect_near(scaled(row({5, 5, 5, 5}), 1.5f, {{"mode", "cubic"}}), {5, 5, 5, 5, 5, 5});
  expect_near(scaled(row({5, 5, 5, 5}), 1.5f, {{"mode", "cubic"}, {"exclude_outside", int64_t{1}}}),
              {5, 5, 5, 5, 5, 5});
  // A triangle of half-width 2 around 0.5: weights 1/4 and 3/4 mirrored, the left one past the edge.
  expect_near(scaled(row({0, 8, 16, 24}), 0.5f, {{"mode", "linear"}, {"antialias", int64_t{1}}}), {5, 19});
  // A scale of which nothing is left.
  expect_near(scaled(row({0, 8, 16, 24}), 1e-30f, {{"mode", "linear"}, {"antialias", int64_t{1}}}), {});
}

TEST(Resize, KeepsTheAspectRatioOfTheNamedAxes) {
  const Tensor x = Tensor::zeros(DType::kFloat32, {1, 1, 4, 6});
  const auto shape = [&](const char* policy) {
    return run_op("Resize", 18, {x, Tensor(), Tensor(), Tensor::vector<int64_t>({6, 6})},
                  {{"axes", std::vector<int64_t>{3, 2}}, {"keep_aspect_ratio_policy", policy}})[0]
        .shape();
  };
  EXPECT_EQ(shape("not_larger"), (Shape{1, 1, 4, 6}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 1, 6, 9}));
  EXPECT_EQ(shape("stretch"), (Shape{1, 1, 6, 6}));
}

TEST(Resize, TakesStringsAndIntegers) {
  const Tensor s = run_op("Resize", 13,
                          {Tensor::vector<std::string>({"a", "b"}), Tensor(), Tensor::vector<float>({2})})[0];
  EXPECT_EQ(s.span<std::string>()[1], "a");
  EXPECT_EQ(s.span<std::string>()[2], "b");
  const Tensor u =
      run_op("Resize", 13, {Tensor::vector<uint8_t>({0, 255}), Tensor(), Tensor::vector<float>({2})},
             {{"mode", "cubic"}})[0];
  EXPECT_EQ(u.to_int64(), (std::vector<int64_t>{0, 58, 197, 255})) << "overshoot is clamped";
}

TEST(Resize, BeforeOpset11DividesByTheScale) {
  const Tensor x = row({1, 2, 3, 4});
  EXPECT_EQ(numbers(run_op("Resize", 10, {x, Tensor::vector<float>({1, 1, 1, 0.6f})})[0]),
            (std::vector<double>{1, 3}));
  const AttributeList scales = {{"scales", Floats{1, 1, 1, 2}}};
  EXPECT_EQ(numbers(run_op("Upsample", 7, {x}, scales)[0]), (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(numbers(run_op("Upsample", 9, {x, Tensor::vector<float>({1, 1, 1, 2})}, {{"mode", "linear"}})[0]),
            (std::vector<double>{1, 1.5, 2, 2.5, 3, 3.5, 4, 4}));
  EXPECT_THROW(run_op("Upsample", 10, {x, Tensor::vector<float>({1, 1, 1, 2})}), Error);
}

TEST(Resize, InfersExtents) {
  const Type x = Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim(3), Dim::symbol("h"), Dim(7)});
  const Tensor scales = Tensor::vector<float>({1, 1, 2, 1.5f});
  EXPECT_EQ(infer_op("Resize", 13, {x, InferInput::missing(), scales}).str(),
            Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim(3), Dim::symbol("2*h"), Dim(10)}).str());
  const InferInput sizes(Dims{Dim::symbol("n"), Dim(3), Dim(), Dim(9)});
  EXPECT_EQ(infer_op("Resize", 13, {x, InferInput::missing(), InferInput::missing(), sizes}).str(),
            Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim(3), Dim(), Dim(9)}).str());
}

/// Linear interpolation of one axis as a float32 kernel would do it.
Floats naive_linear(const Floats& x, int64_t size) {
  const float scale = static_cast<float>(size) / static_cast<float>(x.size());
  Floats y;
  for (int64_t i = 0; i < size; ++i) {
    const float at = std::max(0.0f, (static_cast<float>(i) + 0.5f) / scale - 0.5f);
    const auto low = std::min(static_cast<size_t>(at), x.size() - 1), high = std::min(low + 1, x.size() - 1);
    const float w = at - static_cast<float>(low);
    y.push_back(x[low] * (1 - w) + x[high] * w);
  }
  return y;
}

Tensor bound_of(const Tensor& x, int64_t size, AttributeList attributes, const Tensor& y) {
  const OpTestNode n("Resize", 19, {true, false, false, true}, std::move(attributes), 1, "");
  EvalContext c(n.node(), n.op(), n.version(),
                {to_float64(x), Tensor(), Tensor(), Tensor::vector<int64_t>({size})});
  return n.op().numerics.bound(c, 0x1p-24, 0, y);
}

TEST(Resize, TheBoundCoversFloat32AndIsTight) {
  Floats values;
  for (int i = 0; i < 40; ++i) values.push_back(std::sin(static_cast<float>(i * i)));
  const Tensor x = Tensor::vector<float>(values);
  const int64_t size = 93;
  const Tensor y =
      run_op("Resize", 19, {x, Tensor(), Tensor(), Tensor::vector<int64_t>({size})}, {{"mode", "linear"}})[0];
  const Tensor bound = bound_of(x, size, {{"mode", "linear"}}, y);
  const Floats naive = naive_linear(values, size);
  for (size_t i = 0; i < naive.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(naive[i]) - y.data<double>()[i]), bound.data<double>()[i]) << i;
    EXPECT_LT(bound.data<double>()[i], 3e-4) << i;
  }
}

TEST(Resize, TheBoundOfNearestAllowsATieToFallEitherWay) {
  // 6 -> 5 has the scale 5/6, which float32 cannot hold, and a tie at 2.5; 6 -> 3 has exact ties.
  const Tensor x = Tensor::vector<float>({0, 10, 20, 30, 40, 50});
  const auto bounds = [&](int64_t size) {
    const Tensor y = run_op("Resize", 19, {x, Tensor(), Tensor(), Tensor::vector<int64_t>({size})})[0];
    return numbers(bound_of(x, size, {}, y));
  };
  EXPECT_EQ(bounds(5), (std::vector<double>{0, 0, 10, 0, 0}));
  EXPECT_EQ(bounds(3), (std::vector<double>{0, 0, 0}));
}

struct Bad {
  const char* name;
  std::vector<Tensor> inputs;
  AttributeList attributes;
  const char* message;
};

TEST(Resize, RefusesBadInput) {
  const Tensor x = Tensor::vector<float>({1, 2}), none, two = Tensor::vector<float>({2});
  const auto sizes = [](std::vector<int64_t> v) { return Tensor::vector<int64_t>(v); };
  const Bad cases[] = {
      {"neither", {x}, {}, "exactly one of scales and sizes"},
      {"both", {x, none, two, sizes({4})}, {}, "exactly one of scales and sizes"},
      {"count", {x, none, Tensor::vector<float>({1, 2})}, {}, "scales has 2 entries for 1 axes"},
      {"zero", {x, none, Tensor::vector<float>({0})}, {}, "scale 0 is not positive"},
      {"nan", {x, none, Tensor::vector<float>({std::nanf("")})}, {}, "not positive"},
      {"infinite", {x, none, Tensor::vector<float>({INFINITY})}, {}, "too large"},
      {"absurd", {x, none, Tensor::vector<float>({1e17f})}, {}, "bytes that there are"},
      {"negative", {x, none, none, sizes({-1})}, {}, "size -1 of axis 0"},
      {"empty", {Tensor::zeros(DType::kFloat32, {0}), none, none, sizes({1})}, {}, "without elements"},
      {"roi", {x, none, two}, {{"coordinate_transformation_mode", "tf_crop_and_resize"}}, "roi of 2 numbers"},
      {"mode", {x, none, two}, {{"mode", "area"}}, "mode 'area' is unknown"},
      {"antialias", {x, none, two}, {{"antialias", int64_t{1}}}, "no antialiasing"},
      {"axes", {x, none, two}, {{"axes", std::vector<int64_t>{1}}}, "axis 1 is outside"},
  };
  for (const Bad& c : cases) {
    std::vector<bool> present;
    for (const Tensor& t : c.inputs) present.push_back(t.defined());
    const OpTestNode n("Resize", 19, present, c.attributes, 1, "");
    EvalContext context(n.node(), n.op(), n.version(), widened(n.op(), c.inputs));
    try {
      n.version().eval(context);
      ADD_FAILURE() << c.name << ": no error";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << c.name << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace assay::resize_test
