#include "kernels/narrow_group_conv/narrow_group_conv.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/narrow_group_conv/narrow_group_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/partial_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LF = hn::CappedTag<float, kNarrowGroupBlock>;
using VL = hn::Vec<LF>;
inline constexpr auto kLaneCount = static_cast<int64_t>(hn::MaxLanes(LF()));
inline constexpr int64_t kNarrowGroupVectors = kNarrowGroupBlock / kLaneCount;
inline constexpr bool kManyRegisters = kNarrowGroupVectors == 1;
/// Rows whose sums, and the vectors that these are made from, fill the registers.
inline constexpr int64_t kSharedRows = kManyRegisters ? 12 : 6;
/// The same for pixels of a line.
inline constexpr int64_t kLineRows = kManyRegisters ? 14 : 8, kLineTaps = 3;
/// Vectors of one group that an element of a row is multiplied with before it is left.
inline constexpr int64_t kOwnVectors = kManyRegisters ? 4 : 2;
constexpr int64_t own_rows(int64_t vectors) { return vectors == kOwnVectors ? 6 : 8; }

/// A tile of the result: some rows, one to a few vectors of output channels.
struct NarrowGroupTile {
  const float* const* pixels;  ///< those of the first row at the first tap
  int64_t rows;                ///< from one tap to the next
  int64_t taps, inputs;
  int64_t base;      ///< the first input channel of the first lane's group
  int64_t readable;  ///< channels from there to the end of a pixel
  const float* w;    ///< of the first vector
  int64_t w_block;   ///< elements from one block of weights to the next
  const int32_t* lanes;
  const float* bias;
  float* sums;
  int64_t stride;
  int64_t count;  ///< lanes that are wanted
};

HWY_INLINE VL first_lanes(const float* p, int64_t count) {
  return count >= kLaneCount ? hn::LoadU(LF(), p) : load_first(LF(), p, static_cast<size_t>(count));
}
HWY_INLINE void store_lanes(VL v, float* p, int64_t count) {
  if (count >= kLaneCount)
    hn::StoreU(v, LF(), p);
  else
    store_first(LF(), v, p, static_cast<size_t>(std::max<int64_t>(count, 0)));
}

/// Lanes of several groups: input i of each lane's group is picked from the vector of all their inputs.
template <int64_t R>
HWY_NOINLINE void shared_tile(const NarrowGroupTile& t) {
  const LF f;
  VL acc[R];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) acc[r] = t.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, t.bias);
  const float* w = t.w;
  const float* const* pixels = t.pixels;
  for (int64_t tap = 0; tap < t.taps; ++tap, pixels += t.rows) {
    VL x[R];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) x[r] = first_lanes(pixels[r] + t.base, t.readable);
    for (int64_t i = 0; i < t.inputs; ++i, w += kNarrowGroupBlock) {
      const VL weights = hn::LoadU(f, w);
      const auto lanes = hn::SetTableIndices(f, t.lanes + i * kLaneCount);
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) acc[r] = hn::MulAdd(hn::TableLookupLanes(x[r], lanes), weights, acc[r]);
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) store_lanes(acc[r], t.sums + r * t.stride, t.count);
}

/// The same for R pixels of a line: what is picked from a pixel is multiplied for up to three of them.
/// Picking takes one of the two units that multiply.
template <int64_t R>
HWY_NOINLINE void line_tile(const NarrowGroupTile& t) {
  const LF f;
  VL acc[R];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) acc[r] = t.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, t.bias);
  const float* w = t.w;
  const float* const* pixels = t.pixels;
  const int64_t tap = t.inputs * kNarrowGroupBlock;
  for (int64_t line = 0; line < t.taps; line += kLineTaps, pixels += kLineTaps * t.rows, w += 2 * tap) {
    const float* seen[R + 2];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) seen[r] = pixels[r] + t.base;
    seen[R] = pixels[t.rows + R - 1] + t.base;
    seen[R + 1] = pixels[2 * t.rows + R - 1] + t.base;
    for (int64_t i = 0; i < t.inputs; ++i, w += kNarrowGroupBlock) {
      const VL weights[kLineTaps] = {hn::LoadU(f, w), hn::LoadU(f, w + tap), hn::LoadU(f, w + 2 * tap)};
      const auto lanes = hn::SetTableIndices(f, t.lanes + i * kLaneCount);
      ASSAY_UNROLL
      for (int64_t p = 0; p < R + 2; ++p) {
        const VL x = hn::TableLookupLanes(hn::LoadU(f, seen[p]), lanes);
        ASSAY_UNROLL
        for (int64_t k = 0; k < kLineTaps; ++k)
          if (p - k >= 0 && p - k < R) acc[p - k] = hn::MulAdd(x, weights[k], acc[p - k]);
      }
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) store_lanes(acc[r], t.sums + r * t.stride, t.count);
}

/// Lanes of one group: all of them take the same input.
template <int64_t N, int64_t R>
HWY_NOINLINE void own_tile(const NarrowGroupTile& t) {
  const LF f;
  VL acc[R][N];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v)
    acc[r][v] = t.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, t.bias + v * kLaneCount);
  const float* w = t.w;
  const float* const* pixels = t.pixels;
  for (int64_t tap = 0; tap < t.taps; ++tap, pixels += t.rows) {
    const float* x[R];
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) x[r] = pixels[r] + t.base;
    for (int64_t i = 0; i < t.inputs; ++i, w += kNarrowGroupBlock) {
      VL weights[N];
      ASSAY_UNROLL
      for (int64_t v = 0; v < N; ++v)
        weights[v] =
            hn::LoadU(f, w + v / kNarrowGroupVectors * t.w_block + v % kNarrowGroupVectors * kLaneCount);
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) {
        const VL value = hn::Set(f, x[r][i]);
        ASSAY_UNROLL
        for (int64_t v = 0; v < N; ++v) acc[r][v] = hn::MulAdd(value, weights[v], acc[r][v]);
      }
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v)
    store_lanes(acc[r][v], t.sums + r * t.stride + v * kLaneCount, t.count - v * kLaneCount);
}

using NarrowGroupTileFunction = void (*)(const NarrowGroupTile&);
template <int64_t... R>
constexpr auto shared_tiles(std::integer_sequence<int64_t, R...>) {
  return std::array<NarrowGroupTileFunction, sizeof...(R)>{&shared_tile<R + 1>...};
}
template <int64_t... R>
constexpr auto line_tiles(std::integer_sequence<int64_t, R...>) {
  return std::array<NarrowGroupTileFunction, sizeof...(R)>{&line_tile<R + 1>...};
}
template <int64_t N, int64_t... R>
constexpr auto own_tiles(std::integer_sequence<int64_t, R...>) {
  return std::array<NarrowGroupTileFunction, sizeof...(R)>{&own_tile<N, R + 1>...};
}

/// Tiles of equal height over all rows.
template <size_t kMax>
void narrow_group_rows(const std::array<NarrowGroupTileFunction, kMax>& tiles, NarrowGroupTile t,
                       int64_t rows) {
  constexpr auto most = static_cast<int64_t>(kMax);
  const int64_t count = (rows + most - 1) / most;
  const NarrowGroupTile all = t;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = rows * i / count, last = rows * (i + 1) / count;
    t.pixels = all.pixels + first;
    t.sums = all.sums + first * all.stride;
    tiles[static_cast<size_t>(last - first - 1)](t);
  }
}

template <int64_t N>
void own_rows_of(const NarrowGroupTile& t, int64_t rows) {
  static constexpr auto kTiles = own_tiles<N>(std::make_integer_sequence<int64_t, own_rows(N)>());
  narrow_group_rows(kTiles, t, rows);
}

/// The output channels from `first` on, some vectors of one group, or one vector of several.
NarrowGroupTile narrow_group_tile(const NarrowGroupConv& conv, const float* const* pixels, int64_t rows,
                                  int64_t first, const float* bias) {
  const int64_t base = first / conv.outputs * conv.inputs;
  return {.pixels = pixels,
          .rows = rows,
          .taps = conv.taps,
          .inputs = conv.inputs,
          .base = base,
          .readable = conv.in_channels() - base,
          .w = nullptr,
          .w_block = conv.block_floats(),
          .lanes = nullptr,
          .bias = bias == nullptr ? nullptr : bias + first,
          .sums = nullptr,
          .stride = 0,
          .count = 0};
}

/// Tiles of pixels of one line.
void line_rows(NarrowGroupTile t, int64_t rows, const NarrowGroupLines& lines) {
  static constexpr auto kTiles = line_tiles(std::make_integer_sequence<int64_t, kLineRows>());
  for (int64_t first = 0; first < rows;) {
    const int64_t count = std::min(rows - first, lines.length - (lines.place + first) % lines.length);
    narrow_group_rows(kTiles, t, count);
    t.pixels += count;
    t.sums += count * t.stride;
    first += count;
  }
}

void shared_products(const NarrowGroupConv& conv, const float* packed, const float* const* pixels,
                     int64_t rows, int64_t first, int64_t count, const float* bias, float* sums,
                     int64_t stride, const NarrowGroupLines& lines) {
  static constexpr auto kTiles = shared_tiles(std::make_integer_sequence<int64_t, kSharedRows>());
  HWY_ALIGN int32_t lanes[kNarrowGroupBlock * kLaneCount];
  for (int64_t i = 0; i < conv.inputs; ++i)
    for (int64_t l = 0; l < kLaneCount; ++l)
      lanes[i * kLaneCount + l] = static_cast<int32_t>(l / conv.outputs * conv.inputs + i);
  for (int64_t o = 0; o < count; o += kLaneCount) {
    NarrowGroupTile t = narrow_group_tile(conv, pixels, rows, first + o, bias);
    t.w = packed + (first + o) / kNarrowGroupBlock * conv.block_floats() + o % kNarrowGroupBlock;
    t.lanes = lanes;
    t.sums = sums + o;
    t.stride = stride;
    t.count = count - o;
    if (lines.length > 0 && t.readable >= kLaneCount)
      line_rows(t, rows, lines);
    else
      narrow_group_rows(kTiles, t, rows);
  }
}

/// `count` output channels of one group, from `first` on.
void own_products(const NarrowGroupConv& conv, const float* w, const float* const* pixels, int64_t rows,
                  int64_t first, int64_t count, const float* bias, float* sums, int64_t stride) {
  for (int64_t o = 0; o < count;) {
    NarrowGroupTile t = narrow_group_tile(conv, pixels, rows, first + o, bias);
    t.w = w + o / kNarrowGroupBlock * conv.block_floats() + o % kNarrowGroupBlock;
    t.sums = sums + o;
    t.stride = stride;
    t.count = count - o;
    const int64_t left = (t.count + kLaneCount - 1) / kLaneCount, vectors = std::min(left, kOwnVectors);
    if constexpr (kOwnVectors == 4) {
      if (vectors == 4) own_rows_of<4>(t, rows);
      if (vectors == 3) own_rows_of<3>(t, rows);
    }
    if (vectors == 2) own_rows_of<2>(t, rows);
    if (vectors == 1) own_rows_of<1>(t, rows);
    o += vectors * kLaneCount;
  }
}

void products_of_lanes(const NarrowGroupConv& conv, const float* packed, const float* const* pixels,
                       int64_t rows, int64_t first, int64_t count, const float* bias, float* sums,
                       int64_t stride, const NarrowGroupLines& lines) {
  // Where narrow vectors hold the outputs of one group alone, nothing is picked from a vector.
  if (conv.shares_blocks() && conv.outputs < kLaneCount)
    return shared_products(conv, packed, pixels, rows, first, count, bias, sums, stride, lines);
  for (int64_t o = first; o < first + count; o += conv.outputs) {
    const int64_t blocks = conv.shares_blocks() ? o / kNarrowGroupBlock : conv.blocks(o);
    own_products(conv,
                 packed + blocks * conv.block_floats() + (conv.shares_blocks() ? o % kNarrowGroupBlock : 0),
                 pixels, rows, o, conv.outputs, bias, sums + (o - first), stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(products_of_lanes);

void pack_narrow_group_weights(const NarrowGroupConv& conv, const float* weights, float* packed) {
  const int64_t of_group = (conv.outputs + kNarrowGroupBlock - 1) / kNarrowGroupBlock;
  parallel_for(conv.blocks(conv.out_channels()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t in_group = conv.shares_blocks() ? 0 : b % of_group * kNarrowGroupBlock;
      const int64_t first =
          conv.shares_blocks() ? b * kNarrowGroupBlock : b / of_group * conv.outputs + in_group;
      const int64_t count = std::min(
          kNarrowGroupBlock, conv.shares_blocks() ? conv.out_channels() - first : conv.outputs - in_group);
      float* to = packed + b * conv.block_floats();
      for (int64_t t = 0; t < conv.taps; ++t)
        for (int64_t i = 0; i < conv.inputs; ++i, to += kNarrowGroupBlock)
          for (int64_t lane = 0; lane < kNarrowGroupBlock; ++lane)
            to[lane] = lane < count ? weights[((first + lane) * conv.inputs + i) * conv.taps + t] : 0.0F;
    }
  });
}

void narrow_group_products(const NarrowGroupConv& conv, const float* packed, const float* const* pixels,
                           int64_t rows, int64_t first, int64_t count, const float* bias, float* sums,
                           int64_t stride, NarrowGroupLines lines) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_lanes)
  (conv, packed, pixels, rows, first, count, bias, sums, stride, lines);
}

}  // namespace assay::kernels
#endif
