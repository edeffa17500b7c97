#include "kernels/panel/amx_tiles.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/panel/bfloat16_tiles.h"

namespace assay::kernels {
namespace {

/// Rows of a tile, and float32 numbers in a row of sums; numbers in a row of a tile of factors.
constexpr int64_t kSide = 16, kStep = 32;
static_assert(kSide == kPanelColumns);
/// So few rows are multiplied as fast by vectors, which need no configuration.
constexpr int64_t kFewRows = 4;

/// What the processor is told of its eight tiles.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(size_t tile, int64_t tile_rows, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(tile_rows);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};
static_assert(sizeof(TileConfig) == 64);

/// Four tiles of sums: upper and lower rows, left and right columns. Then the rows' and the columns' factors.
enum Tile : int { kUpperLeft, kUpperRight, kLowerLeft, kLowerRight, kUpper, kLower, kLeft, kRight };

// Of tiles GCC knows nothing: it neither keeps nor moves them.
template <int kTile>
void load_tile(const void* from, int64_t bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(bytes), "i"(kTile) : "memory");
}
template <int kTile>
void store_tile(void* to, int64_t bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(bytes), "i"(kTile) : "memory");
}
template <int kTile>
void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kSums, int kA, int kB>
void add_products() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
}

/// For rows in two tiles, the lower one perhaps none, and `depth` numbers of each at a time, an even number.
void configure(int64_t upper, int64_t lower, int64_t depth) {
  TileConfig config;
  for (const Tile t : {kUpperLeft, kUpperRight}) config.set(t, upper, kSide * 4);
  config.set(kUpper, upper, depth * 2);
  if (lower > 0) {
    for (const Tile t : {kLowerLeft, kLowerRight}) config.set(t, lower, kSide * 4);
    config.set(kLower, lower, depth * 2);
  }
  for (const Tile t : {kLeft, kRight}) config.set(t, depth / 2, kSide * 4);
  asm volatile("ldtilecfg %0" : : "m"(config));
}

/// Up to two tiles of rows by one or two panels. Distances are bytes.
struct Block {
  const uint16_t* a;
  int64_t a_bytes;
  const char* w;
  int64_t panel_bytes;
  int64_t steps;
  const float* start;  ///< null: sums begin as 0
  int64_t start_bytes;
  float* sums;
  int64_t sum_bytes;
};

template <int kTile>
void start_tile(const Block& b, int64_t row, int64_t column) {
  if (b.start == nullptr) return clear_tile<kTile>();
  load_tile<kTile>(reinterpret_cast<const char*>(b.start + column) + row * b.start_bytes, b.start_bytes);
}

template <int kTile>
void finish_tile(const Block& b, int64_t row, int64_t column) {
  store_tile<kTile>(reinterpret_cast<char*>(b.sums + column) + row * b.sum_bytes, b.sum_bytes);
}

template <bool kHasLower, bool kHasRight>
void multiply_block(const Block& b) {
  start_tile<kUpperLeft>(b, 0, 0);
  if constexpr (kHasRight) start_tile<kUpperRight>(b, 0, kSide);
  if constexpr (kHasLower) start_tile<kLowerLeft>(b, kSide, 0);
  if constexpr (kHasLower && kHasRight) start_tile<kLowerRight>(b, kSide, kSide);
  const auto* a = reinterpret_cast<const char*>(b.a);
  const char* w = b.w;
  for (int64_t s = 0; s < b.steps; ++s, a += kStep * 2, w += kStep / 2 * kSide * 4) {
    load_tile<kUpper>(a, b.a_bytes);
    load_tile<kLeft>(w, kSide * 4);
    add_products<kUpperLeft, kUpper, kLeft>();
    if constexpr (kHasRight) {
      load_tile<kRight>(w + b.panel_bytes, kSide * 4);
      add_products<kUpperRight, kUpper, kRight>();
    }
    if constexpr (kHasLower) {
      load_tile<kLower>(a + kSide * b.a_bytes, b.a_bytes);
      add_products<kLowerLeft, kLower, kLeft>();
    }
    if constexpr (kHasLower && kHasRight) add_products<kLowerRight, kLower, kRight>();
  }
  finish_tile<kUpperLeft>(b, 0, 0);
  if constexpr (kHasRight) finish_tile<kUpperRight>(b, 0, kSide);
  if constexpr (kHasLower) finish_tile<kLowerLeft>(b, kSide, 0);
  if constexpr (kHasLower && kHasRight) finish_tile<kLowerRight>(b, kSide, kSide);
}

void multiply(const Block& b, bool has_lower, bool has_right) {
  if (has_lower)
    has_right ? multiply_block<true, true>(b) : multiply_block<true, false>(b);
  else
    has_right ? multiply_block<false, true>(b) : multiply_block<false, false>(b);
}

/// All rows by one or two panels, `steps` steps of `depth` numbers.
void multiply_panels(Block b, int64_t rows, int64_t depth, bool has_right) {
  constexpr int64_t kRows = 2 * kSide;
  const auto advance = [&](int64_t by) {
    b.a += by * b.a_bytes / 2;
    b.sums += by * b.sum_bytes / 4;
    if (b.start != nullptr) b.start += by * b.start_bytes / 4;
  };
  if (rows >= kRows) configure(kSide, kSide, depth);
  for (; rows >= kRows; rows -= kRows, advance(kRows)) multiply(b, true, has_right);
  if (rows == 0) return;
  const int64_t upper = std::min(rows, kSide);
  configure(upper, rows - upper, depth);
  multiply(b, rows > upper, has_right);
}

}  // namespace

bool may_use_amx() noexcept {
  static const bool kMay = [] {
    constexpr unsigned kBfloat16 = 1U << 22, kTiles = 1U << 24;
    constexpr long kAskForFeature = 0x1023, kTileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kBfloat16) != 0 &&
           (edx & kTiles) != 0 && ::syscall(SYS_arch_prctl, kAskForFeature, kTileData) == 0;
  }();
  return kMay;
}

void multiply_bfloat16_amx(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                           const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                           int64_t stride) noexcept {
  if (rows <= kFewRows)
    return multiply_bfloat16_tiles(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
  const int64_t steps = matrix.k / kStep, rest = matrix.k % kStep + matrix.k % 2;
  for (int64_t p = 0; p < count; p += 2) {
    const bool has_right = p + 1 < count;
    Block b{.a = a,
            .a_bytes = a_stride * 2,
            .w = static_cast<const char*>(packed) + (panel + p) * matrix.panel_bytes(),
            .panel_bytes = matrix.panel_bytes(),
            .steps = steps,
            .start = bias == nullptr ? nullptr : bias + p * kPanelColumns,
            .start_bytes = 0,
            .sums = sums + p * kPanelColumns,
            .sum_bytes = stride * 4};
    if (steps > 0) {
      multiply_panels(b, rows, kStep, has_right);
      b.start = b.sums, b.start_bytes = b.sum_bytes;
    }
    if (rest == 0) continue;
    b.a += steps * kStep;
    b.w += steps * kStep / 2 * kSide * 4;
    b.steps = 1;
    multiply_panels(b, rows, rest, has_right);
  }
  asm volatile("tilerelease");
}

}  // namespace assay::kernels
