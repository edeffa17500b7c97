#include "kernels/panel/panel_product.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/parallel.h"

#include "kernels/convert/convert.h"
#include "kernels/native_kernels.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/panel_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/float16_vectors-inl.h"

#ifndef ASSAY_KERNELS_PANEL_STORED_
#define ASSAY_KERNELS_PANEL_STORED_
namespace assay::kernels {

/// Of panels that are worked on together: as much as the first-level cache of most processors.
inline constexpr int64_t kCachedBytes = 32 << 10;

/// What a tile asks memory for, lines of each that is not null while it works through rows of the matrix. A
/// matrix that comes from memory would else be waited for: a few rows of sums keep the units busy for less
/// time than that takes.
struct Ahead {
  const char *first = nullptr, *second = nullptr;
};

struct StoredFloat16 {
  uint16_t bits;
};
/// Rows in pairs: column by column, the element of the even row and that of the odd one.
struct StoredBfloat16 {
  uint16_t bits;
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using P = hn::CappedTag<float, kPanelColumns>;
using VP = hn::Vec<P>;
inline constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(P()));
inline constexpr int64_t kVectors = kPanelColumns / kLanes;
/// Rows of a full tile on one panel: their sums, a row of the panel and one element fill the registers.
inline constexpr int64_t kRows = kVectors >= kPanelRows ? 1 : kPanelRows / kVectors;
/// Where a vector is a panel wide, a tile of float32 numbers is wider than tall: an element of the left
/// operand is then loaded for four products, and loads keep up with the multiplications.
inline constexpr int64_t kWide = kVectors == 1 ? kPanelGroup : 1, kWideRows = 6;

/// Steps between two looks at the loop's end.
inline constexpr int64_t kSteps = 4;

/// Lines of a panel that a tile asks for in so many steps. Narrow registers have one panel at a time and many
/// tiles on it: each asks for a part of the next panel. All at once, more lines would be on their way than a
/// core can wait for, and the multiplications wait with them.
inline constexpr int64_t kLinesAhead = kVectors == 1 ? kSteps : 1, kTilesAhead = kSteps / kLinesAhead;

/// Panels of the next block that the last rows of one ask for.
inline constexpr int64_t kPanelsBehind = kVectors == 1 ? 0 : 1;

/// Most rows of the matrix that panels of W are worked through at a time. Wide registers multiply faster than
/// the second-level cache reads: a block that fits in the first-level cache, of half or twice as many rows,
/// takes 3 to 5 % longer. With narrow ones it keeps up, and sums are loaded and stored less often.
template <typename W>
inline constexpr int64_t kMaxDepth = kVectors > 1 ? 1024
                                                  : kCachedBytes /
                                                        (std::is_same_v<W, float> ? kWide * kPanelColumns * 4
                                                                                  : kPanelColumns * 4);

/// Rows at a time where there are k of them, about as many each time: whole parts of a sum.
template <typename W>
constexpr int64_t depth_of(int64_t k) {
  constexpr int64_t kUnit = 32;
  static_assert(kMaxDepth<W> % kUnit == 0 && kUnit % part_depth(1) == 0 &&
                kUnit % part_depth(INT64_MAX) == 0 && kUnit % kPanelColumns == 0);
  const int64_t times = std::max<int64_t>(1, (k + kMaxDepth<W> - 1) / kMaxDepth<W>);
  return ((k + times - 1) / times + kUnit - 1) / kUnit * kUnit;
}

HWY_INLINE VP load_columns(const float* p) { return hn::LoadU(P(), p); }
HWY_INLINE VP load_columns(const StoredFloat16* p) { return load_float16(P(), &p->bits); }

/// Places at equal distances, a pointer for each three of them: a processor adds once or twice a distance to
/// an address by itself.
template <typename T, int64_t kCount>
struct Places {
  T* third[(kCount + 2) / 3];
  int64_t distance;

  HWY_INLINE Places(T* first, int64_t distance) : distance(distance) {
    ASSAY_UNROLL
    for (int64_t i = 0; 3 * i < kCount; ++i) third[i] = first + 3 * i * distance;
  }
  HWY_INLINE T* at(int64_t i) const { return third[i / 3] + i % 3 * distance; }
  HWY_INLINE void advance(int64_t elements) {
    ASSAY_UNROLL
    for (int64_t i = 0; 3 * i < kCount; ++i) third[i] += elements;
  }
  /// Keeps GCC from a register for each place and step, of which there are not enough.
  HWY_INLINE void hide() {
    ASSAY_UNROLL
    for (int64_t i = 0; 3 * i < kCount; ++i) {
      T* place = third[i];
      asm volatile("" : "+r"(place));
      third[i] = place;
    }
    int64_t same = distance;
    asm volatile("" : "+r"(same));
    distance = same;
  }
};

/// sums[v] += x * columns[v], in the sums' own registers: GCC else moves those of a loop of several steps
/// about, and some into memory. kFromMemory: a processor that can takes x from memory with each
/// multiplication, for which it decodes nothing more than without; it can load two numbers a cycle.
template <bool kFromMemory, size_t kCount>
HWY_INLINE void multiply_add(const float* x, const VP (&columns)[kCount], VP (&sums)[kCount]) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kFromMemory) {
    ASSAY_UNROLL
    for (size_t v = 0; v < kCount; ++v) {
      auto sum = sums[v].raw;
      asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(columns[v].raw), "m"(*x));
      sums[v].raw = sum;
    }
    return;
  }
#endif
  const VP factor = hn::Set(P(), *x);
  ASSAY_UNROLL
  for (size_t v = 0; v < kCount; ++v) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    auto sum = sums[v].raw;
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(factor.raw), "v"(columns[v].raw));
    sums[v].raw = sum;
#else
    sums[v] = hn::MulAdd(factor, columns[v], sums[v]);
#endif
  }
}

/// How a tile sums up; in runs, the left operand's rows lie so.
enum class Summation : uint8_t { kStraight, kInRuns, kInParts };

/// Adds rows [0, depth) of N panels, `panel` elements apart, to the sums of R rows. With as few instructions
/// as can be: where another program runs on the same core, each has half of those that it decodes, which is
/// less than the multiplications need with a few more beside them.
template <int64_t R, int64_t N, bool kInRuns, typename W>
HWY_INLINE void add_products(const PanelRows& a, int64_t depth, const W* w, int64_t panel, Ahead ahead,
                             VP (&acc)[R][N * kVectors]) {
  constexpr auto kLine = static_cast<int64_t>(kPanelColumns * sizeof(W));
  Places<const float, R> left(a.first, a.stride);
  Places<const W, N> right(w, panel);
  const auto step = [&](int64_t k) HWY_ATTR ASSAY_INLINED {
    left.hide();
    right.hide();
    VP columns[N * kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < N * kVectors; ++v)
      columns[v] = load_columns(right.at(v / kVectors) + k * kPanelColumns + v % kVectors * kLanes);
    const auto rows = [&]<size_t... kRow>(std::index_sequence<kRow...>) HWY_ATTR ASSAY_INLINED {
      // An address of two registers would have to be added up apart.
      (multiply_add<(N == 1 || kRow % 3 == 0)>(left.at(kRow) + k, columns, acc[kRow]), ...);
    };
    rows(std::make_index_sequence<R>());
  };
  int64_t k = 0;
  const auto add_steps = [&](int64_t end) HWY_ATTR ASSAY_INLINED {
    for (; k + kSteps <= end; k += kSteps) {
      if (ahead.first != nullptr) {
        const int64_t line = k / kTilesAhead;
        ASSAY_UNROLL
        for (int64_t i = 0; i < kLinesAhead; ++i) __builtin_prefetch(ahead.first + (line + i) * kLine, 0, 2);
        if (ahead.second != nullptr) {
          ASSAY_UNROLL
          for (int64_t i = 0; i < kLinesAhead; ++i)
            __builtin_prefetch(ahead.second + (line + i) * kLine, 0, 2);
        }
      }
      ASSAY_UNROLL
      for (int64_t i = 0; i < kSteps; ++i) step(i);
      left.advance(kSteps);
      right.advance(kSteps * kPanelColumns);
    }
  };
  if constexpr (kInRuns) {
    while (k < depth) {
      add_steps(k + a.run);
      left.advance(a.distance - a.run);
    }
    return;
  }
  add_steps(depth);
  for (; k < depth; ++k) {
    step(0);
    left.advance(1);
    right.advance(kPanelColumns);
  }
}

/// The same for one panel that is stored in pairs of rows.
template <int64_t R>
HWY_INLINE void add_pairs(const float* a, int64_t a_stride, int64_t depth, const StoredBfloat16* w,
                          VP (&acc)[R][kVectors]) {
  const P f;
  const hn::RebindToUnsigned<P> u32;
  for (int64_t k = 0; k < depth; k += 2, w += 2 * kPanelColumns) {
    VP even[kVectors], odd[kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto pairs = hn::LoadU(u32, reinterpret_cast<const uint32_t*>(w) + v * kLanes);
      even[v] = hn::BitCast(f, hn::ShiftLeft<16>(pairs));
      odd[v] = hn::BitCast(f, hn::And(pairs, hn::Set(u32, 0xFFFF0000U)));
    }
    const bool has_odd = k + 1 < depth;
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const float* const row = a + r * a_stride + k;
      const VP x = hn::Set(f, row[0]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(x, even[v], acc[r][v]);
      if (!has_odd) continue;
      const VP y = hn::Set(f, row[1]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(y, odd[v], acc[r][v]);
    }
  }
}

/// Panels side by side, from element `w` of the first on.
template <typename W>
struct Panels {
  const W* w;
  int64_t panel;  ///< elements from one to the next
  int64_t depth;  ///< rows of them
  const W* next;  ///< the panels that are worked on behind these; null: it is not known
  int64_t next_count;
  int64_t part = 0;  ///< rows of them that are summed up apart, where sums are in parts

  /// What tile number i asks for: a part of a panel, or of two where there are few tiles.
  Ahead ahead(int64_t i, bool are_few) const {
    const auto place = [&](int64_t p) {
      return p < next_count ? reinterpret_cast<const char*>(
                                  next + p * panel + i % kTilesAhead * (depth / kTilesAhead) * kPanelColumns)
                            : nullptr;
    };
    return are_few ? Ahead{place(2 * i), place(2 * i + 1)} : Ahead{place(i / kTilesAhead)};
  }
};

/// Rows whose sums begin as `start`, or as 0 where that is null.
struct Rows {
  PanelRows a;
  const float* start;
  int64_t start_stride;
  float* sums;
  int64_t stride;

  HWY_INLINE void advance(int64_t r) {
    a.first += r * a.stride;
    if (start != nullptr) start += r * start_stride;
    sums += r * stride;
  }
};

/// The rows from number k of each on, which begins a run.
HWY_INLINE PanelRows from_number(PanelRows a, int64_t k) {
  a.first += a.run == 0 ? k : k / a.run * a.distance;
  return a;
}

template <int64_t R, int64_t N>
HWY_INLINE void load_sums(const float* from, int64_t stride, VP (&acc)[R][N]) {
  Places<const float, R> places(from, stride);
  places.hide();
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v)
    acc[r][v] = from == nullptr ? hn::Zero(P()) : hn::LoadU(P(), places.at(r) + v * kLanes);
}

template <int64_t R, int64_t N>
HWY_INLINE void store_sums(const VP (&acc)[R][N], float* to, int64_t stride) {
  Places<float, R> places(to, stride);
  places.hide();
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v) hn::StoreU(acc[r][v], P(), places.at(r) + v * kLanes);
}

template <int64_t R, int64_t N, bool kInRuns, typename W>
HWY_INLINE void straight_tile(const Rows& rows, const Panels<W>& panels, Ahead ahead) {
  VP acc[R][N * kVectors];
  load_sums(rows.start, rows.start_stride, acc);
  if constexpr (std::is_same_v<W, StoredBfloat16>) {
    const int64_t run = kInRuns ? rows.a.run : panels.depth;
    const float* a = rows.a.first;
    for (int64_t k = 0; k < panels.depth; k += run, a += rows.a.distance)
      add_pairs<R>(a, rows.a.stride, run, panels.w + k * kPanelColumns, acc);
  } else {
    add_products<R, N, kInRuns>(rows.a, panels.depth, panels.w, panels.panel, ahead, acc);
  }
  store_sums(acc, rows.sums, rows.stride);
}

template <int64_t R, int64_t N>
HWY_NOINLINE void tile_in_parts(const Rows& rows, const Panels<float>& panels, Ahead ahead) {
  const int64_t part_bytes = panels.part / kTilesAhead * kPanelColumns * 4;
  const float *start = rows.start, *w = panels.w;
  int64_t start_stride = rows.start_stride;
  for (int64_t k = 0; k < panels.depth; k += panels.part, w += panels.part * kPanelColumns) {
    VP part[R][N * kVectors];
    load_sums(nullptr, 0, part);
    add_products<R, N, false>({rows.a.first + k, rows.a.stride}, std::min(panels.part, panels.depth - k), w,
                              panels.panel, ahead, part);
    if (ahead.first != nullptr) ahead.first += part_bytes;
    if (ahead.second != nullptr) ahead.second += part_bytes;
    Places<const float, R> from(start, start_stride);
    from.hide();
    Places<float, R> to(rows.sums, rows.stride);
    to.hide();
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < N * kVectors; ++v) {
      const VP sum =
          start == nullptr ? part[r][v] : hn::Add(hn::LoadU(P(), from.at(r) + v * kLanes), part[r][v]);
      hn::StoreU(sum, P(), to.at(r) + v * kLanes);
    }
    start = rows.sums;
    start_stride = rows.stride;
  }
}

/// `count` tiles of R rows, the first of which is number `tile` of those on these panels.
template <int64_t R, int64_t N, Summation kSummation, typename W>
HWY_NOINLINE void tiles(Rows& rows, int64_t count, const Panels<W>& panels, int64_t tile, bool are_few) {
  for (const int64_t end = tile + count; tile < end; ++tile) {
    const Ahead ahead = panels.ahead(tile, are_few);
    if constexpr (kSummation == Summation::kInParts)
      tile_in_parts<R, N>(rows, panels, ahead);
    else
      straight_tile<R, N, kSummation == Summation::kInRuns>(rows, panels, ahead);
    rows.advance(R);
  }
}

/// Tiles of M rows, then those of fewer that are left.
template <int64_t M, int64_t N, Summation kSummation, typename W>
void panel_rows(Rows next, int64_t rows, const Panels<W>& panels) {
  const bool are_few = kTilesAhead == 1 && rows < N * M;
  int64_t r = 0, taken = 0;
  const auto take = [&]<int64_t R>(int64_t count) {
    if (count == 0) return;
    tiles<R, N, kSummation>(next, count, panels, taken, are_few);
    r += R * count;
    taken += count;
  };
  if constexpr (M == kWideRows) {
    // Some tiles of a row less, where none is left over then: a tile of one row reads the panel as often as
    // one of six.
    const int64_t smaller = (M - rows % M) % M;
    if (const int64_t end = rows - smaller * (M - 1); end >= 0) {
      take.template operator()<M>(end / M);
      return take.template operator()<M - 1>(smaller);
    }
  }
  take.template operator()<M>(rows / M);
  // What is left in few pieces: one row at a time would read the panel as often.
  const auto take_left = [&]<int64_t R>() {
    if constexpr (R < M) take.template operator()<R>((rows - r) / R);
  };
  take_left.template operator()<6>();
  take_left.template operator()<5>();
  take_left.template operator()<4>();
  take_left.template operator()<3>();
  take_left.template operator()<2>();
  take_left.template operator()<1>();
}

/// Panels [0, count) from `panels` on, added up from `rows.start` on.
template <Summation kSummation, typename W>
void panel_block(Rows rows, int64_t count, const Panels<W>& panels, int64_t row_count) {
  const auto take = [&]<int64_t N, int64_t M>(int64_t p) {
    Rows part = rows;
    if (part.start != nullptr) part.start += p * kPanelColumns;
    part.sums += p * kPanelColumns;
    Panels<W> some = panels;
    some.w += p * panels.panel;
    if (p + N < count) some.next = some.w + N * panels.panel, some.next_count = std::min(N, count - p - N);
    panel_rows<M, N, kSummation>(part, row_count, some);
  };
  int64_t p = 0;
  if constexpr (kWide > 1 && std::is_same_v<W, float>) {
    for (; p + kWide <= count; p += kWide) take.template operator()<kWide, kWideRows>(p);
    if (count - p == 3) return take.template operator()<3, 8>(p);
    if (count - p == 2) return take.template operator()<2, 12>(p);
  }
  for (; p < count; ++p) take.template operator()<1, kRows>(p);
}

template <typename W, Summation kSummation>
void product_of(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                const PanelRows& a, int64_t rows, const float* bias, float* sums, int64_t stride) {
  const int64_t elements = matrix.panel_bytes() / static_cast<int64_t>(sizeof(W)),
                depth = depth_of<W>(matrix.k);
  const W* const w = static_cast<const W*>(packed) + panel * elements;
  for (int64_t k = 0; k < matrix.k; k += depth) {
    const W* const now = w + k * kPanelColumns;
    // Behind the last panels come the next rows of the first ones, then, for the next block, the panel
    // behind. (Fewer rows may be left: then it asks for some of the panel after, or of what lies behind the
    // matrix, which does no harm.)
    const bool more = k + depth < matrix.k;
    panel_block<kSummation, W>({from_number(a, k), k == 0 ? bias : sums, k == 0 ? 0 : stride, sums, stride},
                               count,
                               {now, elements, std::min(depth, matrix.k - k),
                                more ? now + depth * kPanelColumns : w + count * elements,
                                more ? std::min(kWide, count) : kPanelsBehind, part_depth(matrix.k)},
                               rows);
  }
}

void block_product(const PanelBlock& b, const PanelRows& a, int64_t rows, const float* start,
                   int64_t start_stride, float* sums, int64_t stride) {
  const int64_t depth = depth_of<float>(b.depth);
  for (int64_t k = 0; k < b.depth; k += depth) {
    const Rows part{from_number(a, k), k > 0 ? sums : start, k > 0 ? stride : start_stride, sums, stride};
    const Panels<float> panels{b.data + k * kPanelColumns, b.panel, std::min(depth, b.depth - k), nullptr, 0};
    if (a.run == 0)
      panel_block<Summation::kStraight, float>(part, b.count, panels, rows);
    else
      panel_block<Summation::kInRuns, float>(part, b.count, panels, rows);
  }
}

template <Summation kSummation>
void product_as_stored(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                       const PanelRows& a, int64_t rows, const float* bias, float* sums, int64_t stride) {
  const auto product = [&]<typename W>() {
    product_of<W, kSummation>(matrix, packed, panel, count, a, rows, bias, sums, stride);
  };
  switch (matrix.type) {
    case DType::kFloat16:
      return product.template operator()<StoredFloat16>();
    case DType::kBFloat16:
      return product.template operator()<StoredBfloat16>();
    default:
      return product.template operator()<float>();
  }
}

void product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count, const PanelRows& a,
             int64_t rows, const float* bias, float* sums, int64_t stride) {
  if (a.run == 0)
    product_as_stored<Summation::kStraight>(matrix, packed, panel, count, a, rows, bias, sums, stride);
  else
    product_as_stored<Summation::kInRuns>(matrix, packed, panel, count, a, rows, bias, sums, stride);
}

void product_in_parts(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                      const float* a, int64_t a_stride, int64_t rows, float* sums, int64_t stride) {
  product_of<float, Summation::kInParts>(matrix, packed, panel, count, {a, a_stride}, rows, nullptr, sums,
                                         stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(product);
HWY_EXPORT(block_product);
HWY_EXPORT(product_in_parts);

namespace {

/// Copies one row of one panel; columns beyond n are 0.
void read_row(const PanelMatrix& m, const char* source, int64_t row_stride, int64_t column_stride, int64_t k,
              int64_t panel, float* row) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  const int64_t first = panel * kPanelColumns, count = k < m.k ? std::min(kPanelColumns, m.n - first) : 0;
  const char* const from = source + (k * row_stride + first * column_stride) * kWidth;
  std::fill(row + count, row + kPanelColumns, 0.0F);
  if (column_stride == 1) {
    std::memcpy(row, from, static_cast<size_t>(count * kWidth));
  } else {
    for (int64_t c = 0; c < count; ++c) std::memcpy(row + c, from + c * column_stride * kWidth, kWidth);
  }
}

}  // namespace

void pack_panels(const PanelMatrix& m, const void* numbers, int64_t row_stride, int64_t column_stride,
                 void* packed) {
  const auto* const source = static_cast<const char*>(numbers);
  const auto pack_panel = [&](int64_t p) {
    char* to = static_cast<char*>(packed) + p * m.panel_bytes();
    float rows[2][kPanelColumns];
    switch (m.type) {
      case DType::kFloat16:
        for (int64_t k = 0; k < m.k + m.k % 2; ++k, to += 2 * kPanelColumns) {
          read_row(m, source, row_stride, column_stride, k, p, rows[0]);
          narrow_row(DType::kFloat16, rows[0], to, kPanelColumns);
        }
        break;
      case DType::kBFloat16:
        for (int64_t k = 0; k < m.k; k += 2, to += 4 * kPanelColumns) {
          float pairs[2 * kPanelColumns];
          read_row(m, source, row_stride, column_stride, k, p, rows[0]);
          read_row(m, source, row_stride, column_stride, k + 1, p, rows[1]);
          for (int64_t c = 0; c < kPanelColumns; ++c)
            pairs[2 * c] = rows[0][c], pairs[2 * c + 1] = rows[1][c];
          narrow_row(DType::kBFloat16, pairs, to, 2 * kPanelColumns);
        }
        break;
      default:
        for (int64_t k = 0; k < m.k; ++k)
          read_row(m, source, row_stride, column_stride, k, p,
                   reinterpret_cast<float*>(to) + k * kPanelColumns);
    }
  };
  parallel_for(m.panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) pack_panel(p);
  });
}

void panel_product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                   const PanelRows& a, int64_t rows, const float* bias, float* sums,
                   int64_t stride) noexcept {
  HWY_DYNAMIC_DISPATCH(product)(matrix, packed, panel, count, a, rows, bias, sums, stride);
}

void panel_product_in_parts(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                            const float* a, int64_t a_stride, int64_t rows, float* sums,
                            int64_t stride) noexcept {
  HWY_DYNAMIC_DISPATCH(product_in_parts)(matrix, packed, panel, count, a, a_stride, rows, sums, stride);
}

void panel_block_product(const PanelBlock& block, const PanelRows& a, int64_t rows, const float* start,
                         int64_t start_stride, float* sums, int64_t stride) noexcept {
  HWY_DYNAMIC_DISPATCH(block_product)(block, a, rows, start, start_stride, sums, stride);
}

bool multiplies_bfloat16() noexcept { return native_kernels().bfloat16_product != nullptr; }

void bfloat16_product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                      const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                      int64_t stride) noexcept {
  native_kernels().bfloat16_product(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
}

}  // namespace assay::kernels
#endif
