#include <cmath>
#include <limits>
#include <random>

#include "ops/nn/test_tensors.h"

namespace assay::detection_test {
namespace {

Tensor count(int64_t n) { return Tensor::vector<int64_t>({n}); }
Tensor number(double x) { return Tensor::vector<double>({x}); }

TEST(NonMaxSuppression, KeepsTheBestOfOverlappingBoxes) {
  // Two boxes that share 0.8 / 1.2 of their area, one apart, and one that only touches.
  const Tensor boxes = Tensor::from<double>({1, 4, 4}, {0, 0, 1, 1, 0, 0.2, 1, 1.2, 5, 5, 6, 6, 1, 0, 2, 1});
  const Tensor scores = Tensor::from<double>({1, 1, 4}, {0.8, 0.9, 0.7, 0.7});
  const auto run = [&](int64_t most, double iou, double least) {
    return run_op("NonMaxSuppression", 11, {boxes, scores, count(most), number(iou), number(least)})[0]
        .to_int64();
  };
  EXPECT_EQ(run(9, 0.5, 0), (Ints{0, 0, 1, 0, 0, 2, 0, 0, 3}));
  EXPECT_EQ(run(9, 0.7, 0), (Ints{0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 3}));
  EXPECT_EQ(run(1, 0.5, 0), (Ints{0, 0, 1}));
  EXPECT_EQ(run(9, 0.5, 0.7), (Ints{0, 0, 1}));
  EXPECT_EQ(run_op("NonMaxSuppression", 11, {boxes, scores})[0].shape(), (Shape{0, 3}));
}

TEST(NonMaxSuppression, TakesCornersInAnyOrderAndCenters) {
  const Tensor scores = Tensor::from<double>({1, 1, 2}, {0.8, 0.9});
  const Tensor turned = Tensor::from<double>({1, 2, 4}, {1, 1, 0, 0, 0, 1, 1, 0});
  EXPECT_EQ(run_op("NonMaxSuppression", 11, {turned, scores, count(9), number(0.5)})[0].to_int64(),
            (Ints{0, 0, 1}));
  const Tensor centered = Tensor::from<double>({1, 2, 4}, {0.5, 0.5, 1, 1, 2, 0.5, 1, 1});
  EXPECT_EQ(run_op("NonMaxSuppression", 11, {centered, scores, count(9), number(0.5)},
                   {{"center_point_box", int64_t{1}}})[0]
                .to_int64(),
            (Ints{0, 0, 1, 0, 0, 0}));
  expect_refused("NonMaxSuppression", 11,
                 {{{random_tensor({1, 2, 3}, 1), scores}, {}, "where (images, boxes, 4) is needed"},
                  {{random_tensor({1, 3, 4}, 1), scores}, {}, "do not go with scores"}});
}

/// Every box against every kept one; boxes as [y1, x1, y2, x2] with the lower corner first, scores fall.
Ints chosen_one_by_one(const Tensor& boxes, double threshold) {
  const double* p = boxes.data<double>();
  Ints rows, kept;
  for (int64_t i = 0; i < boxes.shape()[1]; ++i) {
    const double* a = p + 4 * i;
    bool clashes = false;
    for (const int64_t k : kept) {
      const double* b = p + 4 * k;
      const double height = std::min(a[2], b[2]) - std::max(a[0], b[0]),
                   width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
      const double size_a = (a[3] - a[1]) * (a[2] - a[0]), size_b = (b[3] - b[1]) * (b[2] - b[0]);
      if (width > 0 && height > 0 && size_a > 0 && size_b > 0)
        clashes |= width * height / (size_a + size_b - width * height) > threshold;
    }
    if (clashes) continue;
    kept.push_back(i);
    rows.insert(rows.end(), {0, 0, i});
  }
  return rows;
}

TEST(NonMaxSuppression, ManyBoxesAreComparedWithThoseNearby) {
  std::mt19937_64 random(3);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  constexpr int64_t kBoxes = 600;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Boxes of a class have their own place; a few are as wide as all of them, empty, or without an end.
  for (const double spread : {0.0, 3.0, 1000.0, -50.0, 1e300})
    for (const double odd : {-1.0, 0.0, 1e-300, 2000.0, kInfinity}) {
      Tensor boxes = Tensor::allocate(DType::kFloat64, {1, kBoxes, 4}),
             scores = Tensor::allocate(DType::kFloat64, {1, 1, kBoxes});
      for (int64_t i = 0; i < kBoxes; ++i) {
        double* b = boxes.mutable_data<double>() + 4 * i;
        const double place = spread * static_cast<double>(i % 20);
        const double width = odd >= 0 && i % 37 == 0 ? odd : uniform(0.1, 1.5);
        b[0] = place + uniform(0, 2);
        b[1] = place + uniform(0, 2);
        b[2] = b[0] + uniform(0.1, 1.5);
        b[3] = b[1] + width;
        scores.mutable_data<double>()[i] = static_cast<double>(kBoxes - i);
      }
      const Ints rows =
          run_op("NonMaxSuppression", 11, {boxes, scores, count(kBoxes), number(0.3)})[0].to_int64();
      EXPECT_EQ(rows, chosen_one_by_one(boxes, 0.3)) << spread << ' ' << odd;
      EXPECT_LT(rows.size(), 3U * kBoxes);
    }
}

TEST(RoiAlign, AveragesALinearImageExactly) {
  // The value is 10 y + x, so that every cell's mean is the value at its centre.
  Tensor x = Tensor::allocate(DType::kFloat64, {1, 1, 8, 8});
  for (int64_t i = 0; i < 64; ++i) x.mutable_data<double>()[i] = static_cast<double>(10 * (i / 8) + i % 8);
  const Tensor roi = Tensor::from<double>({1, 4}, {1, 2, 5, 6}), image = Tensor::vector<int64_t>({0});
  const auto run = [&](const char* shift) {
    return values(run_op("RoiAlign", 16, {x, roi, image},
                         {{"output_height", int64_t{2}},
                          {"output_width", int64_t{1}},
                          {"coordinate_transformation_mode", std::string(shift)}})[0]);
  };
  const Values aligned = run("half_pixel"), raw = run("output_half_pixel");
  EXPECT_NEAR(aligned[0], 10 * 2.5 + 2.5, 1e-13);
  EXPECT_NEAR(aligned[1], 10 * 4.5 + 2.5, 1e-13);
  EXPECT_NEAR(raw[0], 10 * 3 + 3, 1e-13);
  expect_error(
      [&] {
        run_op("RoiAlign", 16, {x, roi, Tensor::vector<int64_t>({1})});
      },
      "region 0 is in image 1 of 1");
  const Tensor huge = Tensor::from<double>({1, 4}, {0, 0, 1e30, 1});
  expect_error([&] { run_op("RoiAlign", 16, {x, huge, image}); }, "too large to sample");
  expect_error(
      [&] {
        run_op("RoiAlign", 16, {x, roi, image}, {{"sampling_ratio", int64_t{3143}}});
      },
      "region 0 is too large to sample: 3143 x 3143 points in each of 1 cells");
  expect_error(
      [&] {
        run_op("RoiAlign", 16, {x, roi, image},
               {{"sampling_ratio", int64_t{1000}},
                {"output_height", int64_t{1} << 8},
                {"output_width", int64_t{1} << 7}});
      },
      "1000 x 1000 points in each of 32768 cells");
  expect_refused("RoiAlign", 16,
                 {{{x, roi, image}, {{"mode", std::string("min")}}, "mode 'min'"},
                  {{x, roi, image}, {{"output_width", int64_t{0}}}, "output_width 0"}});
}

TEST(MaxRoiPool, TakesTheLargestOfEveryCell) {
  Tensor x = Tensor::allocate(DType::kFloat64, {2, 1, 4, 4});
  for (int64_t i = 0; i < 32; ++i) x.mutable_data<double>()[i] = static_cast<double>(i);
  const Tensor rois = Tensor::from<double>({2, 5}, {0, 0, 0, 3, 3, 1, 2, 2, 9, 9});
  const Tensor y = run_op("MaxRoiPool", 22, {x, rois}, {{"pooled_shape", Ints{2, 2}}})[0];
  EXPECT_EQ(values(y), (Values{5, 7, 13, 15, 31, 0, 0, 0}));
  const Tensor wrong = Tensor::from<double>({1, 5}, {2, 0, 0, 1, 1});
  expect_error(
      [&] {
        run_op("MaxRoiPool", 22, {x, wrong}, {{"pooled_shape", Ints{2, 2}}});
      },
      "region 0 is in image 2 of 2");
  expect_refused("MaxRoiPool", 22, {{{x, rois}, {{"pooled_shape", Ints{2}}}, "'pooled_shape'"}});
}

TEST(DeformConv, WithoutOffsetsIsConv) {
  const Tensor x = random_tensor({2, 4, 6, 7}, 1), w = random_tensor({6, 2, 3, 2}, 2),
               b = random_tensor({6}, 3);
  const AttributeList conv = {
      {"group", int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}, {"dilations", Ints{1, 2}}};
  const Tensor wanted = run_op("Conv", 11, {x, w, b}, conv)[0];
  AttributeList attributes = conv;
  attributes.emplace_back("offset_group", int64_t{2});
  const Tensor offsets = Tensor::zeros(DType::kFloat64, {2, 2 * 6 * 2, wanted.dim(2), wanted.dim(3)});
  expect_near(run_op("DeformConv", 19, {x, w, offsets, b}, attributes)[0], wanted, 1e-13);
}

TEST(DeformConv, OffsetsMoveEveryTapAndMasksWeighIt) {
  const Tensor x = random_tensor({1, 1, 6, 6}, 1), w = random_tensor({1, 1, 2, 2}, 2);
  Tensor offsets = Tensor::zeros(DType::kFloat64, {1, 8, 5, 5}),
         mask = Tensor::zeros(DType::kFloat64, {1, 4, 5, 5});
  for (int64_t tap = 0; tap < 4; ++tap)
    for (int64_t i = 0; i < 25; ++i) {
      offsets.mutable_data<double>()[(2 * tap + 1) * 25 + i] = 1;  // one to the right
      mask.mutable_data<double>()[tap * 25 + i] = 0.5;
    }
  const Tensor moved = run_op("DeformConv", 19, {x, w, offsets, Tensor(), mask})[0];
  const Tensor plain = run_op("Conv", 11, {x, w})[0];
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t column = 0; column < 4; ++column)
      EXPECT_NEAR(moved.data<double>()[row * 5 + column], plain.data<double>()[row * 5 + column + 1] / 2,
                  1e-14);
  expect_error(
      [&] {
        run_op("DeformConv", 19, {x, w, slice(offsets, 1, 0, 4)});
      },
      "offset has shape (1, 4, 5, 5)");
}

TEST(CausalConvWithState, ContinuesFromItsState) {
  const Tensor x = random_tensor({2, 3, 9}, 1), w = random_tensor({3, 1, 4}, 2), b = random_tensor({3}, 3);
  for (const char* activation : {"none", "silu"}) {
    const AttributeList attributes = {{"activation", std::string(activation)}};
    const auto run = [&](int64_t first, int64_t last, const Tensor& past) {
      return run_op("CausalConvWithState", 27, {slice(x, 2, first, last), w, b, past}, attributes, 2);
    };
    const std::vector<Tensor> whole = run(0, 9, Tensor()), start = run(0, 2, Tensor()),
                              rest = run(2, 9, start[1]);
    expect_near(slice(whole[0], 2, 2, 9), rest[0], 1e-14, activation);
    expect_near(whole[1], rest[1], 0, activation);
  }
  expect_refused("CausalConvWithState", 27,
                 {{{x, w}, {{"activation", std::string("relu")}}, "activation 'relu'"}});
}

}  // namespace
}  // namespace assay::detection_test
