// The source of each element of a resized axis: the coordinates of Resize and Upsample.
#pragma once

#include <vector>

#include "assay/tensor.h"
#include "assay/type.h"

namespace assay {

class EvalContext;

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };

enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,  ///< opsets 11 and 12
  kTfCropAndResize,
};

enum class NearestMode : uint8_t {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil,
  kByScale,  ///< before opset 11: up when the axis shrinks, down when it grows
};

/// One axis. `width` is scale * in, which may be fractional where `out` is its floor.
struct ResizeAxis {
  int64_t in = 0, out = 0;
  double width = 0;
  /// The scale as a fraction, so that a coordinate divided by it is rounded once.
  double scale_num = 1, scale_den = 1;
  double roi_start = 0, roi_end = 1;

  double scale() const { return scale_num / scale_den; }
};

struct ResizePlan {
  Interpolation interpolation = Interpolation::kNearest;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  double extrapolation_value = 0;
  std::vector<ResizeAxis> axes;  ///< one for each dimension of the input

  Shape output_shape() const;
  /// False when every element of the axis is copied.
  bool resizes(const ResizeAxis& axis) const;
  /// The coordinate in the input that element `at` of the output axis is taken from.
  double source(const ResizeAxis& axis, int64_t at) const;
  /// True when source coordinate x is replaced by extrapolation_value.
  bool is_extrapolated(const ResizeAxis& axis, double x) const;
  /// The error bound of source coordinate x, computed in an arithmetic with unit roundoff u.
  double source_error(const ResizeAxis& axis, double x, double u) const;
};

/// The plan of a Resize or Upsample node. Of input 0 only the shape is read.
ResizePlan plan_resize(const EvalContext& c);
ResizePlan plan_upsample(const EvalContext& c);

/// The extent scaled by `scale`: the floor of the product in float32, as ONNX computes it.
int64_t scaled_extent(int64_t in, double scale);

/// An axis resized by a scale; throws Error unless the scale is positive and the extent representable.
ResizeAxis axis_from_scale(int64_t in, double scale);

/// The extent that a known scale makes of one that may be symbolic; unknown when that is not certain.
Dim infer_scaled(const Dim& in, double scale);

/// The resized tensor. Linear and cubic interpolation take float64 and integers, nearest takes every type;
/// integers are rounded to nearest even and clamped to their range.
Tensor resize(const Tensor& x, const ResizePlan& plan);

/// An upper bound of the error of resize(x, plan) = y in an arithmetic with unit roundoff u, whose
/// coordinates and weights are computed in it too: to first order in u. Float64 of y's shape.
Tensor resize_error_bound(const Tensor& x, const ResizePlan& plan, double u, const Tensor& y);

/// The size of the error to expect. Linear and cubic interpolation of floats: a coordinate has half of its
/// largest error and moves along the slope of the interpolated data; weights are rounded as in Horner's rule.
/// Others: the bound.
Tensor resize_expected_error(const Tensor& x, const ResizePlan& plan, double u, const Tensor& y);

}  // namespace assay
