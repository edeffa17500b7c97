#include "kernels/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/resize.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// One output row of single elements: the input rows mixed into one, then its elements at the positions of
/// the axis. `mixed`: room for an input row of `in_width`.
void resample_elements(const float* const* rows, const float* row_weight, int64_t row_taps, float* out,
                       int64_t in_width, float* mixed, const ResizeAxis& axis) {
  const F f;
  const I i32;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f)), taps = axis.taps, width = axis.extent();
  int64_t i = 0;
  for (; i + lanes <= in_width; i += lanes) {
    VF sum = hn::Mul(constant(row_weight[0]), hn::LoadU(f, rows[0] + i));
    for (int64_t r = 1; r < row_taps; ++r)
      sum = hn::MulAdd(constant(row_weight[r]), hn::LoadU(f, rows[r] + i), sum);
    hn::StoreU(sum, f, mixed + i);
  }
  for (; i < in_width; ++i) {
    float sum = row_weight[0] * rows[0][i];
    for (int64_t r = 1; r < row_taps; ++r) sum += row_weight[r] * rows[r][i];
    mixed[i] = sum;
  }
  int64_t p = 0;
  for (; p + lanes <= width; p += lanes) {
    VF sum = hn::Zero(f);
    for (int64_t t = 0; t < taps; ++t) {
      // Tap t of neighbouring positions lies `taps` apart in the tables.
      const VI at = hn::Mul(hn::Iota(i32, static_cast<int32_t>(p)), hn::Set(i32, static_cast<int32_t>(taps)));
      const VI place = hn::Add(at, hn::Set(i32, static_cast<int32_t>(t)));
      sum = hn::MulAdd(hn::GatherIndex(f, axis.weight.data(), place),
                       hn::GatherIndex(f, mixed, hn::GatherIndex(i32, axis.index.data(), place)), sum);
    }
    hn::StoreU(sum, f, out + p);
  }
  for (; p < width; ++p) {
    float sum = 0;
    for (int64_t t = 0; t < taps; ++t) sum += axis.weight[p * taps + t] * mixed[axis.index[p * taps + t]];
    out[p] = sum;
  }
}

/// One output row: every position mixes `row_taps` input rows at the positions of the axis.
void resample_row(const float* const* rows, const float* row_weight, int64_t row_taps, float* out,
                  int64_t inner, const ResizeAxis& axis) {
  const F f;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(f)), taps = axis.taps, width = axis.extent();
  for (int64_t p = 0; p < width; ++p) {
    const int32_t* index = &axis.index[p * taps];
    const float* weight = &axis.weight[p * taps];
    float* to = out + p * inner;
    int64_t i = 0;
    for (; i + lanes <= inner; i += lanes) {
      VF sum = hn::Zero(f);
      for (int64_t r = 0; r < row_taps; ++r)
        for (int64_t t = 0; t < taps; ++t)
          sum = hn::MulAdd(constant(row_weight[r] * weight[t]), hn::LoadU(f, rows[r] + index[t] * inner + i),
                           sum);
      hn::StoreU(sum, f, to + i);
    }
    for (; i < inner; ++i) {
      float sum = 0;
      for (int64_t r = 0; r < row_taps; ++r)
        for (int64_t t = 0; t < taps; ++t) sum += row_weight[r] * weight[t] * rows[r][index[t] * inner + i];
      to[i] = sum;
    }
  }
}

/// As numbers, of which the bits of `flip` are inverted first: signed ones as if 128 were added.
HWY_INLINE VF load_bytes(const uint8_t* p, uint8_t flip) {
  const hn::Rebind<uint8_t, F> narrow;
  return hn::ConvertTo(F(), hn::PromoteTo(I(), hn::Xor(hn::LoadU(narrow, p), hn::Set(narrow, flip))));
}

/// A position of an output row: weights of the pixels that it mixes, in levels of the result.
struct BytePixels {
  const uint8_t* at[kMaxResizeTaps * kMaxResizeTaps];
  float weight[kMaxResizeTaps * kMaxResizeTaps];
  int64_t count = 0;
};

void mix_bytes(const BytePixels& pixels, const ByteSteps& steps, int64_t inner, uint8_t* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const uint8_t flip = steps.from.is_signed ? 0x80 : 0, flip_back = steps.to.is_signed ? 0x80 : 0;
  const float middle = static_cast<float>(steps.from.zero_point + (steps.from.is_signed ? 128 : 0)),
              zero = static_cast<float>(steps.to.zero_point + (steps.to.is_signed ? 128 : 0));
  float start = zero;
  for (int64_t t = 0; t < pixels.count; ++t) start -= middle * pixels.weight[t];
  const hn::Rebind<uint8_t, F> narrow;
  int64_t i = 0;
  for (; i + lanes <= inner; i += lanes) {
    VF sum = constant(start);
    for (int64_t t = 0; t < pixels.count; ++t)
      sum = hn::MulAdd(constant(pixels.weight[t]), load_bytes(pixels.at[t] + i, flip), sum);
    const VF level = hn::Round(hn::Min(hn::Max(sum, hn::Zero(f)), constant(255.0F)));
    const auto bytes = hn::DemoteTo(narrow, hn::ConvertTo(I(), level));
    hn::StoreU(hn::Xor(bytes, hn::Set(narrow, flip_back)), narrow, out + i);
  }
  for (; i < inner; ++i) {
    float sum = start;
    for (int64_t t = 0; t < pixels.count; ++t)
      sum += pixels.weight[t] * static_cast<float>(pixels.at[t][i] ^ flip);
    out[i] =
        static_cast<uint8_t>(static_cast<int>(std::nearbyint(std::clamp(sum, 0.0F, 255.0F)))) ^ flip_back;
  }
}

/// One output row: every position mixes `row_taps` input rows at the positions of the axis.
void resample_bytes(const uint8_t* const* rows, const float* row_weight, int64_t row_taps, uint8_t* out,
                    int64_t inner, const ResizeAxis& axis, const ByteSteps& steps) {
  const float step = steps.from.scale / steps.to.scale;
  BytePixels pixels;
  pixels.count = row_taps * axis.taps;
  for (int64_t p = 0, width = axis.extent(); p < width; ++p, out += inner) {
    const int32_t* index = &axis.index[p * axis.taps];
    const float* weight = &axis.weight[p * axis.taps];
    for (int64_t r = 0; r < row_taps; ++r)
      for (int64_t t = 0; t < axis.taps; ++t) {
        pixels.at[r * axis.taps + t] = rows[r] + index[t] * inner;
        pixels.weight[r * axis.taps + t] = row_weight[r] * weight[t] * step;
      }
    mix_bytes(pixels, steps, inner, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(resample_row);
HWY_EXPORT(resample_bytes);
HWY_EXPORT(resample_elements);

namespace {

/// Longest row that is mixed at once, on the stack.
constexpr int64_t kMaxMixed = 8192;

template <typename Pixel>
void select_elements(const char* row, char* out, const ResizeAxis& axis) {
  const int64_t width = axis.extent();
  for (int64_t p = 0; p < width; ++p)
    std::memcpy(out + p * sizeof(Pixel), row + axis.index[p] * sizeof(Pixel), sizeof(Pixel));
}

void select_row(const char* row, char* out, int64_t pixel_bytes, const ResizeAxis& axis) {
  if (pixel_bytes == 1) return select_elements<uint8_t>(row, out, axis);
  if (pixel_bytes == 4) return select_elements<float>(row, out, axis);
  const int64_t width = axis.extent();
  for (int64_t p = 0; p < width; ++p)
    std::memcpy(out + p * pixel_bytes, row + axis.index[p] * pixel_bytes, static_cast<size_t>(pixel_bytes));
}

}  // namespace

bool ResizeAxis::selects() const {
  return taps == 1 && std::all_of(weight.begin(), weight.end(), [](float w) { return w == 1.0f; });
}

void select_pixels(const void* in, void* out, int64_t planes, int64_t in_height, int64_t in_width,
                   int64_t pixel_bytes, const ResizeAxis& rows, const ResizeAxis& columns) noexcept {
  const int64_t height = rows.extent(), row_bytes = in_width * pixel_bytes,
                out_bytes = columns.extent() * pixel_bytes;
  const auto* const images = static_cast<const char*>(in);
  auto* const to = static_cast<char*>(out);
  parallel_for(planes * height, std::max<int64_t>(1, 32768 / std::max<int64_t>(out_bytes, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t at = first; at < last; ++at) {
                   const int64_t y = at % height;
                   char* const row = to + at * out_bytes;
                   // A row that is the one before it again.
                   if (at > first && y > 0 && rows.index[y] == rows.index[y - 1])
                     std::memcpy(row, row - out_bytes, static_cast<size_t>(out_bytes));
                   else
                     select_row(images + (at / height * in_height + rows.index[y]) * row_bytes, row,
                                pixel_bytes, columns);
                 }
               });
}

void resize_bytes(const void* in, void* out, const ByteSteps& steps, int64_t planes, int64_t in_height,
                  int64_t in_width, int64_t inner, const ResizeAxis& rows,
                  const ResizeAxis& columns) noexcept {
  const int64_t height = rows.extent(), row_size = in_width * inner, out_row = columns.extent() * inner;
  const auto* const images = static_cast<const uint8_t*>(in);
  auto* const to = static_cast<uint8_t*>(out);
  parallel_for(
      planes * height, std::max<int64_t>(1, 16384 / std::max<int64_t>(out_row, 1)),
      [&](int64_t first, int64_t last) {
        for (int64_t at = first; at < last; ++at) {
          const int64_t y = at % height;
          const uint8_t* sources[kMaxResizeTaps];
          for (int64_t t = 0; t < rows.taps; ++t)
            sources[t] = images + (at / height * in_height + rows.index[y * rows.taps + t]) * row_size;
          HWY_DYNAMIC_DISPATCH(resample_bytes)
          (sources, &rows.weight[y * rows.taps], rows.taps, to + at * out_row, inner, columns, steps);
        }
      });
}

void resize(const float* in, float* out, int64_t planes, int64_t in_height, int64_t in_width, int64_t inner,
            const ResizeAxis& rows, const ResizeAxis& columns) noexcept {
  if (rows.selects() && columns.selects())
    return select_pixels(in, out, planes, in_height, in_width, inner * static_cast<int64_t>(sizeof(float)),
                         rows, columns);
  const int64_t height = rows.extent(), row_size = in_width * inner, out_row = columns.extent() * inner;
  parallel_for(planes * height, std::max<int64_t>(1, 8192 / std::max<int64_t>(out_row, 1)),
               [&](int64_t first, int64_t last) {
                 float mixed[kMaxMixed];
                 for (int64_t at = first; at < last; ++at) {
                   const int64_t y = at % height;
                   const float* image = in + at / height * in_height * row_size;
                   const int32_t* index = &rows.index[y * rows.taps];
                   const float* sources[kMaxResizeTaps];
                   for (int64_t t = 0; t < rows.taps; ++t) sources[t] = image + index[t] * row_size;
                   if (inner == 1 && in_width <= kMaxMixed) {
                     HWY_DYNAMIC_DISPATCH(resample_elements)
                     (sources, &rows.weight[y * rows.taps], rows.taps, out + at * out_row, in_width, mixed,
                      columns);
                     continue;
                   }
                   HWY_DYNAMIC_DISPATCH(resample_row)
                   (sources, &rows.weight[y * rows.taps], rows.taps, out + at * out_row, inner, columns);
                 }
               });
}

}  // namespace assay::kernels
#endif
