#include "kernels/winograd/winograd_1d.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd/winograd_1d.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/partial_vectors-inl.h"
#include "kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using W = hn::CappedTag<float, kPanelColumns>;
using VW = hn::Vec<W>;

/// Transforms what one group of taps sees of a tile; `special` sums up 0 times all numbers. An infinity or
/// NaN shows in the first or last point: between them these use every number.
void transform_group(const float* const (&pixels)[Winograd1d::kPoints], int64_t channels, float* to,
                     int64_t point_stride, VW& special) {
  constexpr int64_t kPoints = Winograd1d::kPoints;
  const W f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t c = 0; c < channels; c += lanes) {
    const auto some = static_cast<size_t>(std::min(lanes, channels - c));
    const bool whole = c + lanes <= channels;
    VW d[kPoints], t[kPoints];
    ASSAY_UNROLL
    for (int64_t i = 0; i < kPoints; ++i) {
      const float* const p = pixels[i];
      d[i] = p == nullptr ? hn::Zero(f) : whole ? hn::LoadU(f, p + c) : load_first(f, p + c, some);
    }
    transform_input(d, t);
    special = hn::MulAdd(hn::Add(t[0], t[kPoints - 1]), hn::Zero(f), special);
    ASSAY_UNROLL
    for (int64_t i = 0; i < kPoints; ++i) hn::StoreU(t[i], f, to + i * point_stride + c);
  }
}

void line_inputs(const Winograd1d& line, const float* x, int64_t first, int64_t count, float* matrices,
                 int64_t row_stride, int64_t point_stride, uint8_t* has_special) {
  const W f;
  for (int64_t n = 0; n < count; ++n) {
    const Winograd1d::Start start = line.start(first + n);
    VW special = hn::Zero(f);
    // What is written behind the channels of a group is overwritten by the next.
    for (int64_t g = 0; g < line.groups(); ++g) {
      const float* pixels[Winograd1d::kPoints];
      for (int64_t i = 0; i < Winograd1d::kPoints; ++i) {
        const int64_t pixel = line.pixel(start, i, g * Winograd1d::kGroup);
        pixels[i] = pixel < 0 ? nullptr : x + pixel * line.channels;
      }
      transform_group(pixels, line.channels, matrices + n * row_stride + g * line.channels, point_stride,
                      special);
    }
    has_special[n] = hn::AllTrue(f, hn::Eq(special, hn::Zero(f))) ? 0 : 1;
  }
}

void line_outputs(const float* sums, int64_t point_stride, int64_t columns, const float* bias, float* y,
                  int64_t result_stride) {
  const W f;
  for (int64_t k = 0; k < columns; k += static_cast<int64_t>(hn::Lanes(f))) {
    VW s[Winograd1d::kPoints], t[Winograd1d::kResults];
    ASSAY_UNROLL
    for (int64_t i = 0; i < Winograd1d::kPoints; ++i) s[i] = hn::LoadU(f, sums + i * point_stride + k);
    transform_output(s, t);
    const VW b = bias == nullptr ? hn::Zero(f) : hn::LoadU(f, bias + k);
    ASSAY_UNROLL
    for (int64_t i = 0; i < Winograd1d::kResults; ++i)
      hn::StoreU(hn::Add(t[i], b), f, y + i * result_stride + k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(line_inputs);
HWY_EXPORT(line_outputs);

void pack_line_weights(const Winograd1d& line, const float* weights, float* packed) {
  constexpr int64_t kGroup = Winograd1d::kGroup;
  const PanelMatrix matrix = line.matrix();
  const int64_t panel_floats = matrix.panel_bytes() / 4, point_floats = matrix.bytes() / 4;
  parallel_for(matrix.panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t row = 0; row < line.depth(); ++row)
        for (int64_t column = 0; column < kPanelColumns; ++column) {
          const int64_t o = p * kPanelColumns + column, first = row / line.channels * kGroup;
          const float* const w = weights + (o * line.channels + row % line.channels) * line.taps + first;
          for (int64_t point = 0; point < Winograd1d::kPoints; ++point) {
            double sum = 0;
            for (int64_t t = 0; o < line.outputs && t < std::min(kGroup, line.taps - first); ++t)
              sum += kWeights4[point][t] * w[t];
            packed[point * point_floats + p * panel_floats + row * kPanelColumns + column] =
                static_cast<float>(sum);
          }
        }
  });
}

void transform_line_inputs(const Winograd1d& line, const float* x, int64_t first, int64_t count,
                           float* matrices, int64_t row_stride, int64_t point_stride,
                           uint8_t* has_special) noexcept {
  HWY_DYNAMIC_DISPATCH(line_inputs)(line, x, first, count, matrices, row_stride, point_stride, has_special);
}

void transform_line_outputs(const float* sums, int64_t point_stride, int64_t columns, const float* bias,
                            float* y, int64_t result_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(line_outputs)(sums, point_stride, columns, bias, y, result_stride);
}

void convolve_line_plainly(const Winograd1d& line, const float* packed, int64_t panel, const float* x,
                           const Winograd1d::Start& start, int64_t i, const float* bias,
                           float* sums) noexcept {
  const PanelMatrix matrix = line.matrix();
  const int64_t point_floats = matrix.bytes() / 4;
  const float* const weights = packed + panel * (matrix.panel_bytes() / 4);
  for (int64_t o = 0; o < kPanelColumns; ++o) sums[o] = bias == nullptr ? 0 : bias[o];
  for (int64_t t = 0; t < line.taps; ++t) {
    const int64_t pixel = line.pixel(start, i, t);
    if (pixel < 0) continue;
    const TapSource& tap = kTaps4[t % Winograd1d::kGroup];
    for (int64_t c = 0; c < line.channels; ++c) {
      const float value = x[pixel * line.channels + c];
      const float* const row = weights + (t / Winograd1d::kGroup * line.channels + c) * kPanelColumns;
      for (int64_t o = 0; o < kPanelColumns; ++o) {
        float weight = tap.factors[0] * row[tap.points[0] * point_floats + o];
        if (tap.factors[1] != 0) weight += tap.factors[1] * row[tap.points[1] * point_floats + o];
        sums[o] += value * weight;
      }
    }
  }
}

}  // namespace assay::kernels
#endif
