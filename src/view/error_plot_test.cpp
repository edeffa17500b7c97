#include "view/error_plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/difference.h"

namespace assay::error_plot_test {
namespace {

Image plot(const Tensor& a, const Tensor& b) {
  const Difference difference(a, b);
  return error_plot({"title", "first", "second"}, difference.absolute(), difference.relative(),
                    TensorNumbers(b));
}

/// Pixels with the colour of dots (more blue than red) in a column range of the picture.
int dots_between(const Image& image, int first_row, int last_row) {
  int count = 0;
  for (int y = first_row; y < last_row; ++y)
    for (int x = 0; x < image.width(); ++x) count += image.at(x, y).blue > image.at(x, y).red;
  return count;
}

TEST(ErrorPlot, DotsInBothPanels) {
  const Image image = plot(Tensor::vector<float>({1.5f, 5, 9}), Tensor::vector<float>({1, 6, 7}));
  EXPECT_EQ(dots_between(image, 0, image.height() / 2), 27) << "three dots of 3 x 3 pixels";
  EXPECT_EQ(dots_between(image, image.height() / 2, image.height()), 27);
}

TEST(ErrorPlot, OddInputs) {
  const Tensor empty = Tensor::allocate(DType::kFloat32, Shape{0});
  EXPECT_EQ(dots_between(plot(empty, empty), 0, 1200), 0);
  const Tensor zero = Tensor::vector<float>({0, 0});
  EXPECT_GT(dots_between(plot(zero, zero), 0, 1200), 0);
  const Tensor wild = Tensor::vector<float>({NAN, INFINITY, 1e38f, 1e-45f}),
               other = Tensor::vector<float>({1, 2, -1e38f, 0});
  EXPECT_GT(dots_between(plot(wild, other), 0, 1200), 0);
  EXPECT_EQ(plot(wild, wild).width(), plot(other, other).width());
}

}  // namespace
}  // namespace assay::error_plot_test
