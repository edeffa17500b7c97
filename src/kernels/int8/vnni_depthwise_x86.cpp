#include "kernels/int8/vnni_depthwise.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/image_rows.h"
#include "kernels/int8/int8_conv.h"
#include "kernels/int8/vnni_requantize.h"

namespace assay::kernels {
namespace {

/// Channels that are walked over at a time: what is known of them stays in the first-level cache.
constexpr int64_t kChunk = 8 * kVnniChannels;
constexpr int64_t kMaxTaps = (kMaxInt8Taps + 3) / 4 * 4;

/// A vector of a block of channels, as unpacking leaves them.
ASSAY_VNNI inline __m512i block_order(int64_t vector) {
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51);
  return _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int32_t>(4 * vector)));
}

/// Channels [first, first + count) of a window.
struct VnniChunk {
  int64_t first, count;
  const int8_t* packed;
  int64_t packed_stride;  ///< from four taps to the next four
  const uint8_t* pixels[kMaxTaps];
  /// What zero points take away, in the order of blocks, and what taps outside read.
  alignas(64) int32_t starts[kChunk];
  uint8_t outside[kChunk + kVnniChannels];

  int64_t blocks() const { return (count + kVnniChannels - 1) / kVnniChannels; }
};

/// All bytes of a block.
struct Whole {
  ASSAY_VNNI __m512i operator()(const uint8_t* p) const { return _mm512_loadu_si512(p); }
};
/// Where the last of them lie beyond the image: zeros for these.
struct Inside {
  __mmask64 mask;
  ASSAY_VNNI __m512i operator()(const uint8_t* p) const { return _mm512_maskz_loadu_epi8(mask, p); }
};

/// Fours of a window of 3 x 3 taps, for which loops unroll.
constexpr int64_t kCommonRowGroups = 3;

/// Sums of a block's channels, in the order of blocks. kRowGroups: how many fours there are, or 0: `fours`.
template <bool kSigned, int64_t kRowGroups, typename Load>
ASSAY_VNNI inline void sum_block(const VnniChunk& chunk, int64_t fours, int64_t block, const Load& load,
                                 __m512i (&sums)[4]) {
  if constexpr (kRowGroups > 0) fours = kRowGroups;
  const int64_t c = block * kVnniChannels;
  const int8_t* packed = chunk.packed + 4 * c;
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 4
  for (int64_t v = 0; v < 4; ++v) sums[v] = _mm512_load_si512(chunk.starts + c + kVnniLanes * v);
#pragma GCC unroll 3
  for (int64_t g = 0; g < fours; ++g, packed += chunk.packed_stride) {
    __m512i x[4];
#pragma GCC unroll 4
    for (int64_t j = 0; j < 4; ++j) {
      x[j] = load(chunk.pixels[4 * g + j] + c);
      if constexpr (kSigned) x[j] = _mm512_xor_si512(x[j], flips);
    }
    const __m512i low01 = _mm512_unpacklo_epi8(x[0], x[1]), high01 = _mm512_unpackhi_epi8(x[0], x[1]),
                  low23 = _mm512_unpacklo_epi8(x[2], x[3]), high23 = _mm512_unpackhi_epi8(x[2], x[3]);
    const auto weights = [&](int64_t v) ASSAY_VNNI { return _mm512_loadu_si512(packed + v * 64); };
    sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_unpacklo_epi16(low01, low23), weights(0));
    sums[1] = _mm512_dpbusd_epi32(sums[1], _mm512_unpackhi_epi16(low01, low23), weights(1));
    sums[2] = _mm512_dpbusd_epi32(sums[2], _mm512_unpacklo_epi16(high01, high23), weights(2));
    sums[3] = _mm512_dpbusd_epi32(sums[3], _mm512_unpackhi_epi16(high01, high23), weights(3));
  }
}

/// Quarters of a block's vectors become vectors of channels that follow each other, in `to`; as many as the
/// mask has bits. (GCC 12 warns of what the unmasked shuffles leave undefined.)
ASSAY_VNNI inline void store_in_order(const __m512i (&sums)[4], __mmask64 mask, int32_t* to) {
  constexpr __mmask16 kAll = 0xFFFF;
  const __m512i a = _mm512_maskz_shuffle_i32x4(kAll, sums[0], sums[1], 0x44),
                b = _mm512_maskz_shuffle_i32x4(kAll, sums[2], sums[3], 0x44),
                d = _mm512_maskz_shuffle_i32x4(kAll, sums[0], sums[1], 0xEE),
                e = _mm512_maskz_shuffle_i32x4(kAll, sums[2], sums[3], 0xEE);
  const __m512i order[4] = {
      _mm512_maskz_shuffle_i32x4(kAll, a, b, 0x88), _mm512_maskz_shuffle_i32x4(kAll, a, b, 0xDD),
      _mm512_maskz_shuffle_i32x4(kAll, d, e, 0x88), _mm512_maskz_shuffle_i32x4(kAll, d, e, 0xDD)};
#pragma GCC unroll 4
  for (int64_t v = 0; v < 4; ++v)
    _mm512_mask_storeu_epi32(to + 16 * v, static_cast<__mmask16>(mask >> (16 * v)), order[v]);
}

/// Where sums go as they are.
struct SumsOfTaps {
  int32_t* sums;
  int64_t channels;

  ASSAY_VNNI void operator()(const __m512i (&block)[4], int64_t row, int64_t first, int64_t,
                             __mmask64 mask) const {
    store_in_order(block, mask, sums + row * channels + first);
  }
};

/// Where they become levels.
struct QuantizedOfTaps {
  QuantizedEpilogue to;
  VnniBounds bounds;
  VnniColumns columns[kChunk / kVnniLanes];

  ASSAY_VNNI bool read(const VnniChunk& chunk) {
    for (int64_t b = 0; b < chunk.blocks(); ++b)
      for (int64_t v = 0; v < 4; ++v)
        if (!read_vnni_columns(to.at(0, chunk.first + b * kVnniChannels), chunk.count - b * kVnniChannels,
                               block_order(v), columns[4 * b + v]))
          return false;
    return true;
  }
  ASSAY_VNNI void operator()(const __m512i (&block)[4], int64_t row, int64_t first, int64_t number,
                             __mmask64 mask) const {
    __m512i doubts = _mm512_setzero_si512(), levels[4];
#pragma GCC unroll 4
    for (int64_t v = 0; v < 4; ++v) levels[v] = vnni_requantize(block[v], columns[4 * number + v], doubts);
    if (__builtin_expect(_mm512_test_epi32_mask(doubts, doubts) != 0, 0)) {
      int32_t stored[kVnniChannels];
      store_in_order(block, ~__mmask64{0}, stored);
      return requantize({stored, 0, 1, std::popcount(mask)}, to.at(row, first));
    }
    char* const q = static_cast<char*>(to.q) + row * to.pitch + first;
    const __m512i bytes = vnni_bytes(levels[0], levels[1], levels[2], levels[3], bounds);
    // There are processors where a store by a mask takes several times as long.
    if (mask == ~__mmask64{0})
      _mm512_storeu_si512(q, bytes);
    else
      _mm512_mask_storeu_epi8(q, mask, bytes);
  }
};

/// Calls end(sums, row, channel, block, channels that are there) for the blocks of every position.
template <bool kSigned, int64_t kRowGroups, typename End>
ASSAY_VNNI void walk(const Int8Images& images, const void* x, int64_t first, int64_t count, VnniChunk& chunk,
                     const End& end) {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t channels = images.channels, kernel = w.kernel[last], step = w.dilations[last];
  const int64_t move = w.strides[last] * channels, most = w.in[last] - w.reach(last);
  const int64_t taps = w.taps(), image_bytes = w.in_size() * channels;
  const auto* const pixels = static_cast<const uint8_t*>(x) + chunk.first;
  const int64_t fours = (taps + 3) / 4;
  for (int64_t t = taps; t < 4 * fours; ++t) chunk.pixels[t] = chunk.outside;
  Positions position(w, first);
  bool all_inside = false;
  const uint8_t* furthest = nullptr;
  for (int64_t r = 0; r < count; ++r, position.next()) {
    const int64_t start = position.start(last);
    // Where the position before this one in the row saw nothing but the image, as this one does, every tap
    // moves by the stride.
    if (all_inside && start + w.begin[last] > 0 && start <= most) {
      for (int64_t t = 0; t < taps; ++t) chunk.pixels[t] += move;
      furthest += move;
    } else {
      all_inside = true;
      furthest = nullptr;
      for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
        for (int64_t t = 0; t < kernel; ++t) {
          const int64_t at = start + t * step;
          const bool inside = element >= 0 && at >= 0 && at < w.in[last];
          chunk.pixels[tap + t] = inside ? pixels + (element + at) * channels : chunk.outside;
          if (inside) furthest = chunk.pixels[tap + t];
          all_inside = all_inside && inside;
        }
      });
    }
    const uint8_t* const image_end = static_cast<const uint8_t*>(x) + (position.image() + 1) * image_bytes;
    for (int64_t b = 0, c = 0; c < chunk.count; ++b, c += kVnniChannels) {
      const __mmask64 there = ~__mmask64{0} >> (kVnniChannels - std::min(kVnniChannels, chunk.count - c));
      __m512i sums[4];
      // Bytes beyond the channels are the next pixel's.
      if (furthest == nullptr || image_end - furthest >= c + kVnniChannels)
        sum_block<kSigned, kRowGroups>(chunk, fours, b, Whole(), sums);
      else
        sum_block<kSigned, kRowGroups>(chunk, fours, b, Inside{there}, sums);
      end(sums, r, chunk.first + c, b, there);
    }
  }
}

/// A column of a window of three rows, its taps next to each other in the order of blocks.
struct Column {
  __m512i taps[4];
};

/// The pixels of a row of positions: of each row of taps the first pixel of the image's row, and how far the
/// next one is; a row outside the image repeats what taps outside read.
struct ColumnRows {
  const uint8_t* first[3];
  int64_t step[3];
};

template <bool kSigned, typename Load>
ASSAY_VNNI inline Column column_of(const uint8_t* const (&pixels)[3], const Load& load) {
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(kSigned ? 0x80 : 0));
  __m512i x[3];
#pragma GCC unroll 3
  for (int64_t j = 0; j < 3; ++j) {
    x[j] = load(pixels[j]);
    if constexpr (kSigned) x[j] = _mm512_xor_si512(x[j], flips);
  }
  // The fourth weight is 0, whatever it is multiplied with.
  const __m512i low01 = _mm512_unpacklo_epi8(x[0], x[1]), high01 = _mm512_unpackhi_epi8(x[0], x[1]),
                low2 = _mm512_unpacklo_epi8(x[2], x[2]), high2 = _mm512_unpackhi_epi8(x[2], x[2]);
  return {{_mm512_unpacklo_epi16(low01, low2), _mm512_unpackhi_epi16(low01, low2),
           _mm512_unpacklo_epi16(high01, high2), _mm512_unpackhi_epi16(high01, high2)}};
}

/// A block of channels of `count` positions in a row, the first of which begins at pixel `start`.
template <bool kSigned, typename Load, typename End>
ASSAY_VNNI inline void walk_row(const VnniChunk& chunk, const ColumnRows& rows, int64_t start, int64_t stride,
                                int64_t width, int64_t count, int64_t row, int64_t block, __mmask64 there,
                                const Load& load, const End& end) {
  const int64_t c = block * kVnniChannels;
  const int8_t* const packed = chunk.packed + 4 * c;
  const auto column = [&](int64_t at) ASSAY_VNNI {
    const uint8_t* pixels[3];
    for (int64_t j = 0; j < 3; ++j)
      pixels[j] = at < 0 || at >= width ? chunk.outside : rows.first[j] + at * rows.step[j] + c;
    return column_of<kSigned>(pixels, load);
  };
  Column columns[3] = {column(start), column(start + 1), column(start + 2)};
  for (int64_t r = 0;;) {
    __m512i sums[4];
#pragma GCC unroll 4
    for (int64_t v = 0; v < 4; ++v) {
      sums[v] = _mm512_load_si512(chunk.starts + c + kVnniLanes * v);
#pragma GCC unroll 3
      for (int64_t j = 0; j < 3; ++j)
        sums[v] = _mm512_dpbusd_epi32(sums[v], columns[j].taps[v],
                                      _mm512_loadu_si512(packed + j * chunk.packed_stride + v * 64));
    }
    end(sums, row + r, chunk.first + c, block, there);
    if (++r == count) return;
    start += stride;
    if (stride == 1) {
      columns[0] = columns[1], columns[1] = columns[2];
    } else if (stride == 2) {
      columns[0] = columns[2], columns[1] = column(start + 1);
    } else {
      columns[0] = column(start), columns[1] = column(start + 1);
    }
    columns[2] = column(start + 2);
  }
}

/// walk() of windows that are taken by columns.
template <bool kSigned, typename End>
ASSAY_VNNI void walk_columns(const Int8Images& images, const void* x, int64_t first, int64_t count,
                             VnniChunk& chunk, const End& end) {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t channels = images.channels;
  const auto* const pixels = static_cast<const uint8_t*>(x) + chunk.first;
  for (int64_t row = 0; row < count;) {
    const Positions position(w, first + row);
    const int64_t positions = std::min(count - row, w.out[last] - (first + row) % w.out[last]);
    ColumnRows rows;
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      const int64_t j = tap / 3;
      rows.first[j] = element < 0 ? chunk.outside : pixels + element * channels;
      rows.step[j] = element < 0 ? 0 : channels;
    });
    for (int64_t b = 0, c = 0; c < chunk.count; ++b, c += kVnniChannels) {
      const __mmask64 there = ~__mmask64{0} >> (kVnniChannels - std::min(kVnniChannels, chunk.count - c));
      const auto walk_as = [&](const auto& load) ASSAY_VNNI {
        walk_row<kSigned>(chunk, rows, position.start(last), w.strides[last], w.in[last], positions, row, b,
                          there, load, end);
      };
      // Bytes beyond the channels may lie beyond the image.
      chunk.count - c >= kVnniChannels ? walk_as(Whole()) : walk_as(Inside{there});
    }
    row += positions;
  }
}

/// Calls work(chunk) for all channels, until one returns false.
template <typename Work>
ASSAY_VNNI bool for_chunks(const Int8Images& images, const int8_t* packed, const int32_t* tap_sums,
                           Work work) {
  const int64_t filled = (images.channels + kVnniChannels - 1) / kVnniChannels * kVnniChannels;
  const __m512i zero = _mm512_set1_epi32(-(images.zero_point + (images.is_signed ? 128 : 0)));
  VnniChunk chunk;
  std::memset(chunk.outside, images.zero_point, sizeof chunk.outside);
  for (int64_t c = 0; c < images.channels; c += kChunk) {
    chunk.first = c;
    chunk.count = std::min(kChunk, images.channels - c);
    chunk.packed = packed + 4 * c;
    chunk.packed_stride = 4 * filled;
    for (int64_t b = 0; b < chunk.blocks(); ++b)
      for (int64_t v = 0; v < 4; ++v) {
        const __m512i sums = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xFFFF, block_order(v),
                                                         tap_sums + c + b * kVnniChannels, sizeof(int32_t));
        _mm512_store_si512(chunk.starts + b * kVnniChannels + v * kVnniLanes, _mm512_mullo_epi32(zero, sums));
      }
    if (!work(chunk)) return false;
  }
  return true;
}

template <typename End>
void walk_images(const Int8Images& images, const void* x, int64_t first, int64_t count, VnniChunk& chunk,
                 const End& end) {
  const DepthwiseWeights weights = DepthwiseWeights::of(*images.window, images.channels);
  if (vnni_taps_of(weights.taps, weights.columns, weights.dilation) == VnniTaps::kColumns)
    return images.is_signed ? walk_columns<true>(images, x, first, count, chunk, end)
                            : walk_columns<false>(images, x, first, count, chunk, end);
  const bool common =
      images.window->taps() > 4 * (kCommonRowGroups - 1) && images.window->taps() <= 4 * kCommonRowGroups;
  const auto walk_as = [&](auto of_common, auto of_any) {
    common ? of_common(images, x, first, count, chunk, end) : of_any(images, x, first, count, chunk, end);
  };
  if (images.is_signed)
    walk_as(walk<true, kCommonRowGroups, End>, walk<true, 0, End>);
  else
    walk_as(walk<false, kCommonRowGroups, End>, walk<false, 0, End>);
}

}  // namespace

void vnni_depthwise(const Int8Images& images, const void* x, const int8_t* packed, const int32_t* tap_sums,
                    int64_t first, int64_t count, int32_t* sums) noexcept {
  for_chunks(images, packed, tap_sums, [&](VnniChunk& chunk) {
    walk_images(images, x, first, count, chunk, SumsOfTaps{sums, images.channels});
    return true;
  });
}

bool vnni_depthwise_quantized(const Int8Images& images, const void* x, const int8_t* packed,
                              const int32_t* tap_sums, int64_t first, int64_t count,
                              const QuantizedEpilogue& end) noexcept {
  QuantizedOfTaps levels;
  levels.to = end;
  levels.bounds = vnni_bounds(end.requantization);
  return for_chunks(images, packed, tap_sums, [&](VnniChunk& chunk) {
    if (!levels.read(chunk)) return false;
    walk_images(images, x, first, count, chunk, levels);
    return true;
  });
}

}  // namespace assay::kernels
