#include "ops/tensor/resize_plan.h"

#include <algorithm>
#include <cmath>

#include "ops/infer_util.h"

namespace assay {

Shape ResizePlan::output_shape() const {
  Shape shape;
  for (const ResizeAxis& a : axes) shape.push_back(a.out);
  return shape;
}

bool ResizePlan::resizes(const ResizeAxis& a) const {
  const bool whole = coordinates != CoordinateMode::kTfCropAndResize || (a.roi_start == 0 && a.roi_end == 1);
  return a.in != a.out || a.scale_num != a.scale_den || !whole;
}

double ResizePlan::source(const ResizeAxis& a, int64_t at) const {
  const auto x = static_cast<double>(at);
  const auto last = static_cast<double>(a.in - 1);
  const double half_pixel = (x + 0.5) * a.scale_den / a.scale_num - 0.5;
  switch (coordinates) {
    case CoordinateMode::kHalfPixel:
      return half_pixel;
    case CoordinateMode::kHalfPixelSymmetric:
      // The centre of the axis stays the centre when its fractional width is cut to whole elements.
      return static_cast<double>(a.in) / 2 * (1 - static_cast<double>(a.out) / a.width) + half_pixel;
    case CoordinateMode::kPytorchHalfPixel:
      return a.width > 1 ? half_pixel : 0;
    case CoordinateMode::kAlignCorners:
      return a.width == 1 ? 0 : x * last / (a.width - 1);
    case CoordinateMode::kAsymmetric:
      return x * a.scale_den / a.scale_num;
    case CoordinateMode::kTfHalfPixelForNn:
      return half_pixel + 0.5;
    case CoordinateMode::kTfCropAndResize:
      break;
  }
  if (a.width <= 1) return 0.5 * (a.roi_start + a.roi_end) * last;
  return a.roi_start * last + x * (a.roi_end - a.roi_start) * last / (a.width - 1);
}

bool ResizePlan::is_extrapolated(const ResizeAxis& a, double x) const {
  return coordinates == CoordinateMode::kTfCropAndResize && (x < 0 || x > static_cast<double>(a.in - 1));
}

double ResizePlan::source_error(const ResizeAxis& a, double x, double u) const {
  int exponent = 0;
  const bool by_scale = coordinates == CoordinateMode::kAsymmetric ||
                        coordinates == CoordinateMode::kHalfPixel ||
                        coordinates == CoordinateMode::kPytorchHalfPixel;
  if (by_scale && std::frexp(a.scale(), &exponent) == 0.5) return 0;  // a power of two: every step is exact
  // Four roundings of terms that grow with x; the offsets of two modes are differences of terms as large as
  // the axis.
  double roundings = 4 * (std::abs(x) + 1);
  if (coordinates == CoordinateMode::kHalfPixelSymmetric) roundings += 2 * static_cast<double>(a.in);
  if (coordinates == CoordinateMode::kTfCropAndResize)
    roundings += 6 * static_cast<double>(a.in) * (std::abs(a.roi_start) + std::abs(a.roi_end));
  return roundings * u;
}

int64_t scaled_extent(int64_t in, double scale) {
  const float product = static_cast<float>(in) * static_cast<float>(scale);
  require(product < 0x1p62f, ErrorCode::kInvalidModel, "extent {} times scale {} is too large", in, scale);
  return static_cast<int64_t>(std::floor(product));
}

ResizeAxis axis_from_scale(int64_t in, double scale) {
  require(scale > 0, ErrorCode::kInvalidModel, "the scale {} is not positive", scale);
  ResizeAxis a{.in = in, .out = scaled_extent(in, scale), .width = scale * static_cast<double>(in)};
  a.scale_num = scale;
  return a;
}

Dim infer_scaled(const Dim& in, double scale) {
  if (in.is_known()) return Dim(axis_from_scale(in.value(), scale).out);
  const bool whole = scale >= 1 && scale == std::floor(scale) && scale < 1e6;
  return whole ? dim_mul(in, Dim(static_cast<int64_t>(scale))) : Dim();
}

}  // namespace assay
