#include "kernels/sample/deform.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>

#include "base/parallel.h"
#include "kernels/sample/sample.h"

namespace assay::kernels {
namespace {

/// Positions that are worked out together, and then used for every channel of the group.
constexpr int64_t kDeformedPositions = 256;

/// The neighbours of tap number `tap` at positions [first, first + samples.points).
void read_deformed(const Window& w, int64_t tap, const float* offset, const float* mask, int64_t first,
                   Samples& samples) {
  const size_t rank = w.rank();
  const int64_t positions = w.out_size();
  int64_t corner[kMaxDeformedAxes], strides[kMaxDeformedAxes];
  int64_t rest = tap, stride = 1;
  for (size_t d = rank; d-- > 0; rest /= w.kernel[d], stride *= w.in[d]) {
    corner[d] = rest % w.kernel[d] * w.dilations[d] - w.begin[d];
    strides[d] = stride;
  }
  for (int64_t p = 0; p < samples.points; ++p) {
    double low[kMaxDeformedAxes], part[kMaxDeformedAxes];
    int64_t place = first + p;
    for (size_t d = rank; d-- > 0; place /= w.out[d]) {
      const double at = static_cast<double>(place % w.out[d] * w.strides[d] + corner[d]) +
                        static_cast<double>(offset[static_cast<int64_t>(d) * positions + first + p]);
      low[d] = std::floor(at);
      part[d] = at - low[d];
    }
    for (int64_t c = 0; c < samples.taps; ++c) {
      double weight = 1;
      int64_t index = 0;
      for (size_t d = 0; d < rank && weight != 0; ++d) {
        const bool high = (c >> d & 1) != 0;
        const double neighbour = low[d] + (high ? 1 : 0);
        const bool is_inside = neighbour >= 0 && neighbour < static_cast<double>(w.in[d]);
        weight *= !is_inside ? 0.0 : high ? part[d] : 1 - part[d];
        if (is_inside) index += static_cast<int64_t>(neighbour) * strides[d];
      }
      if (mask != nullptr && weight != 0) {
        samples.set(c, p, index, static_cast<float>(weight * static_cast<double>(mask[first + p])));
      } else if (weight != 0) {
        samples.set(c, p, index, static_cast<float>(weight));
      }
    }
  }
}

}  // namespace

bool deform_columns(const Deforming& d, const float* x, const float* offset, const float* mask,
                    float* columns) noexcept {
  const int64_t taps = d.window.taps(), positions = d.window.out_size(), plane = d.window.in_size(),
                rank = static_cast<int64_t>(d.window.rank()), sharing = d.channels / d.offset_groups,
                blocks = (positions + kDeformedPositions - 1) / kDeformedPositions;
  std::atomic<bool> has_memory = true;
  parallel_for(d.offset_groups * taps * blocks, 1, [&](int64_t first, int64_t last) {
    try {
      Samples samples;
      for (int64_t i = first; i < last; ++i) {
        const int64_t place = i / blocks, group = place / taps, tap = place % taps,
                      position = i % blocks * kDeformedPositions;
        samples.reset(std::min(kDeformedPositions, positions - position), int64_t{1} << rank);
        read_deformed(d.window, tap, offset + place * rank * positions,
                      mask == nullptr ? nullptr : mask + place * positions, position, samples);
        sample_planes(samples, SampleJoin::kSum, false, x + group * sharing * plane, sharing, plane,
                      columns + (group * sharing * taps + tap) * positions + position, taps * positions);
      }
    } catch (const std::bad_alloc&) {
      has_memory.store(false, std::memory_order_relaxed);
    }
  });
  return has_memory.load();
}

}  // namespace assay::kernels
