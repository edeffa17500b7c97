#include "kernels/sample/grid_sample.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>

#include "base/parallel.h"
#include "kernels/sample/sample.h"

namespace assay::kernels {
namespace {

/// Points whose taps are worked out together, and then used for every channel.
constexpr int64_t kGridPoints = 128;
constexpr double kGridCubicA = -0.75;

/// What a point mixes along one axis; a negative index is padding of zeros.
struct GridTaps {
  std::array<int64_t, 4> index;
  std::array<double, 4> weight;
  int64_t count = 0;
  void add(int64_t at, double w) {
    index[static_cast<size_t>(count)] = at;
    weight[static_cast<size_t>(count++)] = w;
  }
};

class GridAxis {
 public:
  GridAxis(const GridSampling& g, int64_t extent)
      : mode_(g.mode),
        edge_(g.edge),
        align_corners_(g.align_corners),
        extent_(static_cast<double>(extent)),
        last_(static_cast<double>(extent - 1)) {}

  GridTaps taps(double normalized) const {
    GridTaps t;
    const double raw =
        align_corners_ ? (normalized + 1) / 2 * (extent_ - 1) : ((normalized + 1) * extent_ - 1) / 2;
    if (!std::isfinite(raw)) {
      t.add(0, mode_ == GridMode::kNearest ? 1 : std::numeric_limits<double>::quiet_NaN());
    } else if (mode_ == GridMode::kNearest) {
      t.add(padded(inside(std::nearbyint(raw))), 1);
    } else {
      const double x = inside(raw), low = std::floor(x), rest = x - low;
      if (mode_ == GridMode::kLinear) {
        t.add(padded(low), 1 - rest);
        t.add(padded(low + 1), rest);
      } else {
        for (int k = -1; k <= 2; ++k) t.add(padded(low + k), cubic(std::abs(k - rest)));
      }
    }
    return t;
  }

 private:
  static double cubic(double t) {
    constexpr double a = kGridCubicA;
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
  }
  double reflected(double x) const {
    const double low = align_corners_ ? 0 : -0.5, range = last_ + (align_corners_ ? 0 : 0.5) - low;
    if (range <= 0) return low;
    const double beyond = std::fmod(std::abs(x - low), 2 * range);
    return low + (beyond <= range ? beyond : 2 * range - beyond);
  }
  double inside(double x) const {
    const double margin = align_corners_ ? 0 : 0.5;
    if ((x >= -margin && x <= last_ + margin) || edge_ == GridEdge::kZeros) return x;
    return edge_ == GridEdge::kBorder ? std::clamp(x, 0.0, last_) : reflected(x);
  }
  int64_t padded(double at) const {
    if (at >= 0 && at <= last_) return static_cast<int64_t>(at);
    if (edge_ == GridEdge::kZeros) return -1;
    if (edge_ == GridEdge::kReflection) at = std::trunc(reflected(at));
    return static_cast<int64_t>(std::clamp(at, 0.0, last_));
  }

  GridMode mode_;
  GridEdge edge_;
  bool align_corners_;
  double extent_, last_;
};

/// Adds a point's taps: the product of those of its axes.
void add_grid_point(const std::vector<GridAxis>& axes, const GridSampling& g, const float* place,
                    int64_t point, Samples& samples) {
  struct Tap {
    int64_t index;
    double weight;
  };
  Tap buffers[2][kMaxGridTaps];
  Tap *taps = buffers[0], *next = buffers[1];
  taps[0] = {0, 1};
  size_t count = 1;
  for (size_t d = 0; d < axes.size(); ++d) {
    const GridTaps axis = axes[d].taps(static_cast<double>(place[axes.size() - 1 - d]));
    size_t made = 0;
    for (size_t t = 0; t < static_cast<size_t>(axis.count); ++t) {
      if (axis.index[t] < 0) continue;
      for (size_t i = 0; i < count; ++i)
        next[made++] = {taps[i].index * g.extents[d] + axis.index[t], taps[i].weight * axis.weight[t]};
    }
    count = made;
    std::swap(taps, next);
  }
  for (size_t i = 0; i < count; ++i)
    samples.set(static_cast<int64_t>(i), point, taps[i].index, static_cast<float>(taps[i].weight));
}

}  // namespace

int64_t GridSampling::plane() const {
  int64_t product = 1;
  for (const int64_t e : extents) product *= e;
  return product;
}

int64_t GridSampling::taps() const {
  const int64_t each = mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4;
  int64_t product = 1;
  for (size_t d = 0; d < extents.size() && product <= kMaxGridTaps; ++d) product *= each;
  return product;
}

bool grid_sample(const GridSampling& g, const float* image, const float* grid, float* out) noexcept {
  const int64_t blocks = (g.points + kGridPoints - 1) / kGridPoints, plane = g.plane(), taps = g.taps();
  const auto rank = static_cast<int64_t>(g.extents.size());
  std::atomic<bool> has_memory = true;
  parallel_for(g.batch * blocks, 1, [&](int64_t first, int64_t last) {
    try {
      std::vector<GridAxis> axes;
      for (const int64_t e : g.extents) axes.emplace_back(g, e);
      Samples samples;
      for (int64_t i = first; i < last; ++i) {
        const int64_t batch = i / blocks, point = i % blocks * kGridPoints,
                      count = std::min(kGridPoints, g.points - point);
        samples.reset(count, taps);
        const float* const places = grid + (batch * g.points + point) * rank;
        for (int64_t p = 0; p < count; ++p) add_grid_point(axes, g, places + p * rank, p, samples);
        sample_planes(samples, SampleJoin::kSum, false, image + batch * g.channels * plane, g.channels, plane,
                      out + batch * g.channels * g.points + point, g.points);
      }
    } catch (const std::bad_alloc&) {
      has_memory.store(false, std::memory_order_relaxed);
    }
  });
  return has_memory.load();
}

}  // namespace assay::kernels
