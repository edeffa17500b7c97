#include "ops/tensor/grid_sampler.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// With four neighbours along each, more dimensions than this are refused.
constexpr size_t kMaxDimensions = 6;
constexpr double kCubicA = -0.75;

double kernel(Interpolation interpolation, double t) {
  t = std::abs(t);
  if (interpolation == Interpolation::kLinear) return t < 1 ? 1 - t : 0;
  if (t <= 1) return ((kCubicA + 2) * t - (kCubicA + 3)) * t * t + 1;
  return t < 2 ? ((kCubicA * t - 5 * kCubicA) * t + 8 * kCubicA) * t - 4 * kCubicA : 0;
}

Interpolation interpolation_of(const OpContext& c) {
  const std::string& mode = c.attr_string("mode");
  const bool first = c.since() < 20;
  if (mode == "nearest") return Interpolation::kNearest;
  if (mode == (first ? "bilinear" : "linear")) return Interpolation::kLinear;
  c.check(mode == (first ? "bicubic" : "cubic"), "the mode '{}' is unknown", mode);
  return Interpolation::kCubic;
}

GridPadding padding_of(const OpContext& c) {
  const std::string& mode = c.attr_string("padding_mode");
  if (mode == "zeros") return GridPadding::kZeros;
  if (mode == "border") return GridPadding::kBorder;
  c.check(mode == "reflection", "the padding_mode '{}' is unknown", mode);
  return GridPadding::kReflection;
}

}  // namespace

GridSampler::GridSampler(const OpContext& c, const Shape& image, const Shape& grid)
    : interpolation_(interpolation_of(c)),
      padding_(padding_of(c)),
      align_corners_(c.attr_int("align_corners") != 0),
      moves_cubic_(c.op().domain != "com.microsoft") {
  c.check(image.size() >= 3 && grid.size() == image.size() && grid.back() == image.rank() - 2 &&
              grid[0] == image[0],
          "the grid of shape {} does not fit the image of shape {}", grid.str(), image.str());
  c.check(c.since() >= 20 || image.size() == 4, "the image must have rank 4, it has shape {}", image.str());
  c.check(image.size() - 2 <= kMaxDimensions, "more than {} spatial dimensions are not supported",
          kMaxDimensions);
  extents_.assign(image.begin() + 2, image.end());
  output_ = {image[0], image[1]};
  for (size_t d = 1; d + 1 < grid.size(); ++d) output_.push_back(grid[d]);
  plane_ = image.numel(2, image.size());
  points_ = output_.numel(2, output_.size());
  c.check(plane_ > 0 || output_.numel() == 0, "the image of shape {} has no element to sample", image.str());
}

double GridSampler::coordinate(double normalized, int64_t extent) const {
  const auto n = static_cast<double>(extent);
  return align_corners_ ? (normalized + 1) / 2 * (n - 1) : ((normalized + 1) * n - 1) / 2;
}

double GridSampler::coordinate_error(double normalized, int64_t extent, double u) const {
  return 3 * u * ((std::abs(normalized) + 1) * static_cast<double>(extent) + 1);
}

double GridSampler::reflected(double x, int64_t extent) const {
  const double low = align_corners_ ? 0 : -0.5,
               high = static_cast<double>(extent - 1) + (align_corners_ ? 0 : 0.5);
  const double range = high - low;
  if (range <= 0) return low;
  const double beyond = std::fmod(std::abs(x - low), 2 * range);
  return low + (beyond <= range ? beyond : 2 * range - beyond);
}

double GridSampler::moved_inside(double x, int64_t extent) const {
  const auto last = static_cast<double>(extent - 1);
  const double margin = align_corners_ ? 0 : 0.5;
  if (x >= -margin && x <= last + margin) return x;
  if (padding_ == GridPadding::kBorder) return std::clamp(x, 0.0, last);
  return padding_ == GridPadding::kReflection ? reflected(x, extent) : x;
}

int64_t GridSampler::padded_index(double at, int64_t extent) const {
  const auto last = static_cast<double>(extent - 1);
  if (at >= 0 && at <= last) return static_cast<int64_t>(at);
  if (padding_ == GridPadding::kZeros) return -1;
  if (padding_ == GridPadding::kReflection) at = std::trunc(reflected(at, extent));
  return static_cast<int64_t>(std::clamp(at, 0.0, last));
}

GridSampler::Taps GridSampler::axis_taps(double normalized, int64_t extent, double u) const {
  const double raw = coordinate(normalized, extent);
  // A position that is not a number has the result NaN.
  Taps taps;
  if (!std::isfinite(raw)) {
    taps.add({0, std::nan(""), 0});
    return taps;
  }
  if (interpolation_ == Interpolation::kNearest) {
    taps.add({padded_index(moved_inside(std::nearbyint(raw), extent), extent), 1, 0});
    return taps;
  }
  const bool cubic = interpolation_ == Interpolation::kCubic;
  const double x = cubic && !moves_cubic_ ? raw : moved_inside(raw, extent), centre = std::floor(x);
  // A kernel's slope is at most 1.35 for cubic with a = -0.75, its evaluation errs by less than 350 u.
  const double slip = (cubic ? 1.35 : 1) * coordinate_error(normalized, extent, u) + (cubic ? 350 : 2) * u;
  const int reach = (cubic ? 2 : 1) + (u > 0 ? 1 : 0);
  for (int k = 1 - reach; k <= reach; ++k) {
    const double w = kernel(interpolation_, centre + k - x);
    taps.add({padded_index(centre + k, extent), u > 0 ? std::abs(w) : w, slip + 8 * u * std::abs(w)});
  }
  return taps;
}

void GridSampler::sample(const double* point, double u, GridSample& out, GridSample& spare) const {
  out.position.assign(1, 0);
  out.weight.assign(1, 1.0);
  out.weight_error.assign(1, 0.0);
  GridSample& next = spare;
  for (size_t d = 0; d < extents_.size(); ++d) {
    next.clear();
    const Taps taps = axis_taps(point[extents_.size() - 1 - d], extents_[d], u);
    for (size_t t = 0; t < taps.count; ++t) {
      const Tap& tap = taps.taps[t];
      if (tap.index < 0) continue;
      for (size_t i = 0; i < out.position.size(); ++i) {
        next.position.push_back(out.position[i] * extents_[d] + tap.index);
        next.weight.push_back(out.weight[i] * tap.weight);
        next.weight_error.push_back((out.weight[i] + out.weight_error[i]) * (tap.weight + tap.error) -
                                    out.weight[i] * tap.weight);
      }
    }
    std::swap(out, next);
  }
}

std::vector<int64_t> GridSampler::nearest_candidates(const double* point, double u) const {
  std::vector<int64_t> found = {0};
  for (size_t d = 0; d < extents_.size(); ++d) {
    const double normalized = point[extents_.size() - 1 - d];
    const double x = coordinate(normalized, extents_[d]), slip = coordinate_error(normalized, extents_[d], u);
    std::vector<int64_t> next;
    double last = std::nan("");
    for (const double rounded : {std::nearbyint(x - slip), std::nearbyint(x + slip)}) {
      if (rounded == last || !std::isfinite(rounded)) continue;
      last = rounded;
      const int64_t index = padded_index(moved_inside(rounded, extents_[d]), extents_[d]);
      for (const int64_t at : found) next.push_back(at < 0 || index < 0 ? -1 : at * extents_[d] + index);
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace assay
