#include "kernels/sample/roi_align.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <vector>

#include "base/parallel.h"
#include "kernels/sample/sample.h"

namespace assay::kernels {
namespace {

/// Points along one axis of a cell beyond which a region is refused.
constexpr double kMaxRoiPoints = 1 << 15;

/// The two elements beside a coordinate, and their weights; none outside [-1, extent].
struct RoiNeighbours {
  bool inside = false;
  int64_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

RoiNeighbours roi_neighbours(double at, int64_t extent) {
  if (!(at >= -1 && at <= static_cast<double>(extent))) return {};
  at = std::max(at, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), extent - 1);
  if (low == extent - 1) return {true, low, low, 1, 0};
  const double rest = at - static_cast<double>(low);
  return {true, low, low + 1, 1 - rest, rest};
}

/// One axis of a region: the points of each cell.
struct RoiAxis {
  double start = 0, size = 0;
  int64_t points = 0, extent = 1;

  /// False when the region is too large to sample.
  bool read(const RoiAligning& a, float first, float last, int64_t cells, int64_t new_extent) {
    const double scale = a.scale, offset = a.half_pixel ? 0.5 : 0.0;
    start = static_cast<double>(first) * scale - offset;
    const double end = static_cast<double>(last) * scale - offset;
    size = (a.half_pixel ? end - start : std::max(end - start, 1.0)) / static_cast<double>(cells);
    const double wanted = a.ratio > 0 ? static_cast<double>(a.ratio) : std::ceil(size);
    if (!(wanted <= kMaxRoiPoints) || !std::isfinite(size)) return false;
    points = std::max<int64_t>(0, static_cast<int64_t>(wanted));
    extent = new_extent;
    return true;
  }
  RoiNeighbours at(int64_t cell, int64_t point) const {
    return roi_neighbours(start + static_cast<double>(cell) * size +
                              (static_cast<double>(point) + 0.5) * size / static_cast<double>(points),
                          extent);
  }
};

/// One region, row of points by row of points.
void align_region(const RoiAligning& a, const RoiAxis& rows, const RoiAxis& columns, const float* image,
                  Samples& samples, std::vector<RoiNeighbours>& across, float* out) {
  const int64_t cells = a.out_height * a.out_width, count = rows.points * columns.points;
  if (count == 0) {
    std::fill_n(out, a.channels * cells, 0.0F);
    return;
  }
  across.clear();
  for (int64_t w = 0; w < a.out_width; ++w)
    for (int64_t j = 0; j < columns.points; ++j) across.push_back(columns.at(w, j));
  for (int64_t i = 0; i < rows.points; ++i) {
    samples.reset(cells, 4 * columns.points);
    for (int64_t h = 0; h < a.out_height; ++h) {
      const RoiNeighbours y = rows.at(h, i);
      for (int64_t k = 0; y.inside && k < a.out_width * columns.points; ++k) {
        const RoiNeighbours& x = across[static_cast<size_t>(k)];
        if (!x.inside) continue;
        const int64_t cell = h * a.out_width + k / columns.points, tap = k % columns.points * 4;
        samples.set(tap, cell, y.low * a.width + x.low, static_cast<float>(y.low_weight * x.low_weight));
        samples.set(tap + 1, cell, y.low * a.width + x.high,
                    static_cast<float>(y.low_weight * x.high_weight));
        samples.set(tap + 2, cell, y.high * a.width + x.low,
                    static_cast<float>(y.high_weight * x.low_weight));
        samples.set(tap + 3, cell, y.high * a.width + x.high,
                    static_cast<float>(y.high_weight * x.high_weight));
      }
    }
    sample_planes(samples, a.largest ? SampleJoin::kLargest : SampleJoin::kSum, i > 0, image, a.channels,
                  a.height * a.width, out, cells);
  }
  if (a.largest) return;
  const auto divisor = static_cast<float>(count);
#pragma omp simd
  for (int64_t i = 0; i < a.channels * cells; ++i) out[i] /= divisor;
}

}  // namespace

bool roi_points_fit(int64_t rows, int64_t columns, int64_t cells, int64_t plane) noexcept {
  constexpr int64_t kMaxOfCell = int64_t{1} << 20, kMaxOfRow = int64_t{1} << 24;
  int64_t cell = 0, row = 0;
  return !__builtin_mul_overflow(rows, columns, &cell) && cell <= std::max(kMaxOfCell, plane) &&
         !__builtin_mul_overflow(cells, columns, &row) && row <= kMaxOfRow;
}

RoiStatus roi_align(const RoiAligning& a, const float* x, const float* regions, const int64_t* images,
                    float* out) noexcept {
  std::atomic<RoiStatus> status = RoiStatus::kOk;
  const int64_t image = a.channels * a.height * a.width, made = a.channels * a.out_height * a.out_width;
  parallel_for(a.rois, 1, [&](int64_t first, int64_t last) {
    try {
      Samples samples;
      std::vector<RoiNeighbours> across;
      for (int64_t r = first; r < last; ++r) {
        const float* const region = regions + r * 4;
        RoiAxis rows, columns;
        if (images[r] < 0 || images[r] >= a.batch) return status.store(RoiStatus::kBadImage);
        if (!rows.read(a, region[1], region[3], a.out_height, a.height) ||
            !columns.read(a, region[0], region[2], a.out_width, a.width) ||
            !roi_points_fit(rows.points, columns.points, a.out_height * a.out_width, a.height * a.width))
          return status.store(RoiStatus::kTooLarge);
        align_region(a, rows, columns, x + images[r] * image, samples, across, out + r * made);
      }
    } catch (const std::bad_alloc&) {
      status.store(RoiStatus::kOutOfMemory);
    }
  });
  return status.load();
}

}  // namespace assay::kernels
