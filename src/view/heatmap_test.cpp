#include "view/heatmap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace assay::heatmap_test {
namespace {

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Tensor ramp(Shape shape) {
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::from(std::move(shape), values);
}

TEST(HeatmapLayout, AsUpstreamForAFewFigures) {
  const HeatmapLayout one = HeatmapLayout::of({1, 64, 28, 28});
  EXPECT_EQ(one.planes, 64);
  EXPECT_EQ(one.rows, 10);
  EXPECT_EQ(one.columns, 7);
  EXPECT_EQ(one.figures(), 1);
  EXPECT_EQ(HeatmapLayout::of({3, 64, 28, 28}).figures(), 2);
  const HeatmapLayout large = HeatmapLayout::of({6, 400, 1000});
  EXPECT_EQ(large.rows, 2);
  EXPECT_EQ(large.columns, 1);
  EXPECT_EQ(large.figures(), 3);
  const HeatmapLayout few = HeatmapLayout::of({5, 4, 4});
  EXPECT_EQ(few.rows, 1);
  EXPECT_EQ(few.columns, 5);
}

TEST(HeatmapLayout, ManySmallPlanesShareAFigure) {
  EXPECT_EQ(HeatmapLayout::of({1, 1000, 1, 1}).figures(), 1);
  EXPECT_EQ(HeatmapLayout::of({1, 2048, 7, 7}).figures(), 1);
  EXPECT_EQ(HeatmapLayout::of({5000000, 1, 1}).figures(), 3);
}

TEST(HeatmapLayout, AnyRank) {
  EXPECT_EQ(HeatmapLayout::of({}).planes, 1);
  EXPECT_EQ(HeatmapLayout::of({7}).width, 7);
  EXPECT_EQ(HeatmapLayout::of({0, 3}).figures(), 0);
  EXPECT_EQ(HeatmapLayout::of({3000, 5000}).figures(), 1);
  EXPECT_EQ(HeatmapLayout::of({2, 3000, 5000}).figures(), 2);
}

TEST(Heatmap, TitlesNameThePlanes) {
  const TensorNumbers numbers(ramp({2, 60, 30, 20}));
  const HeatmapFigures figures("Absolute Error | y", numbers, false);
  ASSERT_EQ(figures.count(), 2);
  const HeatmapFigure first = figures.draw(0), second = figures.draw(1);
  EXPECT_EQ(first.title, "Absolute Error | y: (0,0,0:30,0:20) to (1,37,0:30,0:20)");
  EXPECT_EQ(second.title, "Absolute Error | y: (1,38,0:30,0:20) to (1,59,0:30,0:20)");
  EXPECT_EQ(count_of(first.svg, "<image"), 98u + 1) << "the planes and the colour bar";
  EXPECT_EQ(count_of(second.svg, "<image"), 22u + 1);
  EXPECT_NE(first.svg.find("<title>(0,59,0:30,0:20)</title>"), std::string::npos);
}

TEST(Heatmap, LowRanksAreOnePlane) {
  const TensorNumbers scalar(Tensor::scalar(3.0f)), row(ramp({5}));
  EXPECT_EQ(HeatmapFigures("s", scalar, false).draw(0).title, "s: (0,0:1,0:1) to (0,0:1,0:1)");
  EXPECT_EQ(HeatmapFigures("r", row, false).draw(0).title, "r: (0,0:1,0:5) to (0,0:1,0:5)");
}

TEST(Heatmap, LogarithmicWhenValuesDifferAndOneIsPositive) {
  const auto name = [](const Tensor& t) { return HeatmapFigures("e", TensorNumbers(t), true).name(); };
  EXPECT_EQ(name(Tensor::vector<float>({0, 1, 10})), "e (Log Scale)");
  EXPECT_EQ(name(Tensor::vector<float>({2, 2})), "e");
  EXPECT_EQ(name(Tensor::vector<float>({0, 0})), "e");
  EXPECT_EQ(name(Tensor::vector<float>({NAN, INFINITY})), "e");
}

TEST(Heatmap, ColorBarShowsTheFiniteRange) {
  const TensorNumbers numbers(Tensor::vector<float>({0, NAN, 0.001f, INFINITY, 10}));
  const std::string linear = HeatmapFigures("e", numbers, false).draw(0).svg;
  for (const char* tick : {">0<", ">2.5<", ">5<", ">7.5<", ">10<"})
    EXPECT_NE(linear.find(tick), linear.npos) << tick;
  const std::string logarithmic = HeatmapFigures("e", numbers, true).draw(0).svg;
  for (const char* tick : {">0.001<", ">0.01<", ">0.1<", ">1<", ">10<"})
    EXPECT_NE(logarithmic.find(tick), logarithmic.npos) << tick;
}

TEST(Heatmap, HugePlanesBecomePicturesOfBoundedSize) {
  const TensorNumbers plane(Tensor::zeros(DType::kUInt8, {2000, 4000})),
      row(Tensor::zeros(DType::kUInt8, {4000000}));
  EXPECT_LT(HeatmapFigures("p", plane, false).draw(0).svg.size(), 100000u);
  EXPECT_LT(HeatmapFigures("r", row, false).draw(0).svg.size(), 100000u);
}

}  // namespace
}  // namespace assay::heatmap_test
