// The elements of an image that GridSample combines for one position of the grid.
#pragma once

#include <array>
#include <vector>

#include "ops/op_context.h"
#include "ops/tensor/resize_plan.h"

namespace assay {

enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };

/// Positions in a plane of the image and the weight of each.
struct GridSample {
  std::vector<int64_t> position;
  std::vector<double> weight;
  /// Only for a bound: the error of each weight.
  std::vector<double> weight_error;

  void clear() {
    position.clear();
    weight.clear();
    weight_error.clear();
  }
};

class GridSampler {
 public:
  /// Reads the attributes and checks that image (N, C, spatial...) and grid (N, out..., r) fit together.
  GridSampler(const OpContext& c, const Shape& image, const Shape& grid);

  Interpolation interpolation() const { return interpolation_; }
  Shape output_shape() const { return output_; }
  /// Elements of one plane of the image.
  int64_t plane() const { return plane_; }
  /// Places of the grid in one entry of the batch.
  int64_t points() const { return points_; }
  size_t rank() const { return extents_.size(); }

  /// The sample for the place `point` of rank() numbers, innermost dimension first. With u > 0 the weights
  /// are magnitudes, and weight_error bounds the effect of computing coordinates and weights with unit
  /// roundoff u. `spare` keeps its memory for the next call.
  void sample(const double* point, double u, GridSample& out, GridSample& spare) const;
  /// Positions that the nearest element may be when coordinates are off by what u explains; -1 for the
  /// padding.
  std::vector<int64_t> nearest_candidates(const double* point, double u) const;

 private:
  struct Tap {
    int64_t index;  ///< -1 in zero padding
    double weight, error;
  };
  /// Of one axis: cubic taps reach two elements to either side, and a third for a bound.
  struct Taps {
    std::array<Tap, 6> taps;
    size_t count = 0;
    void add(Tap tap) { taps[count++] = tap; }
  };
  double coordinate(double normalized, int64_t extent) const;
  double coordinate_error(double normalized, int64_t extent, double u) const;
  double reflected(double x, int64_t extent) const;
  double moved_inside(double x, int64_t extent) const;
  int64_t padded_index(double at, int64_t extent) const;
  Taps axis_taps(double normalized, int64_t extent, double u) const;

  Interpolation interpolation_ = Interpolation::kLinear;
  GridPadding padding_ = GridPadding::kZeros;
  bool align_corners_ = false;
  /// Cubic: a position outside moves into the image before its taps are chosen, as in ONNX's reference.
  /// GridSample of com.microsoft pads the taps only, as PyTorch does.
  bool moves_cubic_ = true;
  std::vector<int64_t> extents_;
  Shape output_;
  int64_t plane_ = 1, points_ = 1;
};

}  // namespace assay
