// Tiles of AMX: how they are configured, loaded and stored. GCC neither keeps nor moves them by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace assay::kernels {

/// Rows of a tile, and numbers of 32 bits in a row.
inline constexpr int64_t kTileSide = 16;
inline constexpr int64_t kTileRowBytes = 64;

/// Rows and bytes of the eight tiles, as the processor reads them.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(size_t tile, int64_t tile_rows, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(tile_rows);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
  void load() const { asm volatile("ldtilecfg %0" : : "m"(*this)); }
};
static_assert(sizeof(TileConfig) == 64);

/// Four tiles of sums: upper and lower rows, left and right columns. Then the rows' and the columns' factors.
enum Tile : int { kUpperLeft, kUpperRight, kLowerLeft, kLowerRight, kUpper, kLower, kLeft, kRight };

template <int kTile>
inline void load_tile(const void* from, int64_t bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(bytes), "i"(kTile) : "memory");
}
template <int kTile>
inline void store_tile(void* to, int64_t bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(bytes), "i"(kTile) : "memory");
}
template <int kTile>
inline void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
inline void release_tiles() { asm volatile("tilerelease"); }

/// The numbers of tiles: in each 32 bits two of bfloat16, or four of uint8 that are multiplied with four of
/// int8.
enum class AmxNumbers : uint8_t { kBFloat16, kInt8 };
/// Asks the system, once for this process, to let its threads use tiles; false where the processor has none
/// for these numbers, or the system refuses.
bool may_use_amx(AmxNumbers numbers) noexcept;

/// For rows in two tiles, the lower one perhaps none, and so many bytes of each at a time, a multiple of 4.
inline void configure_tiles(int64_t upper, int64_t lower, int64_t bytes) {
  TileConfig config;
  for (const Tile t : {kUpperLeft, kUpperRight}) config.set(t, upper, kTileRowBytes);
  config.set(kUpper, upper, bytes);
  if (lower > 0) {
    for (const Tile t : {kLowerLeft, kLowerRight}) config.set(t, lower, kTileRowBytes);
    config.set(kLower, lower, bytes);
  }
  for (const Tile t : {kLeft, kRight}) config.set(t, bytes / 4, kTileRowBytes);
  config.load();
}

template <AmxNumbers kNumbers, int kSums, int kA, int kB>
inline void add_products() {
  if constexpr (kNumbers == AmxNumbers::kInt8)
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  else
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
}

/// Up to two tiles of rows by one or two panels of 16 columns. Distances are bytes.
struct TileBlock {
  const char* a;
  int64_t a_bytes;
  const char* w;
  int64_t panel_bytes;
  int64_t steps;
  const char* start;  ///< null: sums begin as 0
  int64_t start_bytes;
  char* sums;
  int64_t sum_bytes;

  void advance(int64_t rows) {
    a += rows * a_bytes;
    sums += rows * sum_bytes;
    if (start != nullptr) start += rows * start_bytes;
  }
};

template <int kTile>
inline void start_tile(const TileBlock& b, int64_t row, int64_t panel) {
  if (b.start == nullptr) return clear_tile<kTile>();
  load_tile<kTile>(b.start + row * b.start_bytes + panel * kTileRowBytes, b.start_bytes);
}

template <int kTile>
inline void finish_tile(const TileBlock& b, int64_t row, int64_t panel) {
  store_tile<kTile>(b.sums + row * b.sum_bytes + panel * kTileRowBytes, b.sum_bytes);
}

template <AmxNumbers kNumbers, bool kHasLower, bool kHasRight>
void multiply_block(const TileBlock& b) {
  start_tile<kUpperLeft>(b, 0, 0);
  if constexpr (kHasRight) start_tile<kUpperRight>(b, 0, 1);
  if constexpr (kHasLower) start_tile<kLowerLeft>(b, kTileSide, 0);
  if constexpr (kHasLower && kHasRight) start_tile<kLowerRight>(b, kTileSide, 1);
  const char *a = b.a, *w = b.w;
  for (int64_t s = 0; s < b.steps; ++s, a += kTileRowBytes, w += kTileSide * kTileRowBytes) {
    load_tile<kUpper>(a, b.a_bytes);
    load_tile<kLeft>(w, kTileRowBytes);
    add_products<kNumbers, kUpperLeft, kUpper, kLeft>();
    if constexpr (kHasRight) {
      load_tile<kRight>(w + b.panel_bytes, kTileRowBytes);
      add_products<kNumbers, kUpperRight, kUpper, kRight>();
    }
    if constexpr (kHasLower) {
      load_tile<kLower>(a + kTileSide * b.a_bytes, b.a_bytes);
      add_products<kNumbers, kLowerLeft, kLower, kLeft>();
    }
    if constexpr (kHasLower && kHasRight) add_products<kNumbers, kLowerRight, kLower, kRight>();
  }
  finish_tile<kUpperLeft>(b, 0, 0);
  if constexpr (kHasRight) finish_tile<kUpperRight>(b, 0, 1);
  if constexpr (kHasLower) finish_tile<kLowerLeft>(b, kTileSide, 0);
  if constexpr (kHasLower && kHasRight) finish_tile<kLowerRight>(b, kTileSide, 1);
}

template <AmxNumbers kNumbers>
void multiply_block(const TileBlock& b, bool has_lower, bool has_right) {
  if (has_lower)
    has_right ? multiply_block<kNumbers, true, true>(b) : multiply_block<kNumbers, true, false>(b);
  else
    has_right ? multiply_block<kNumbers, false, true>(b) : multiply_block<kNumbers, false, false>(b);
}

/// Calls block(row, rows, has_lower) for all rows, in tiles that are configured for them and `bytes` of each.
template <typename Block>
void for_tile_rows(int64_t rows, int64_t bytes, Block block) {
  constexpr int64_t kRows = 2 * kTileSide;
  int64_t r = 0;
  if (rows >= kRows) configure_tiles(kTileSide, kTileSide, bytes);
  for (; rows - r >= kRows; r += kRows) block(r, kRows, true);
  if (r == rows) return;
  const int64_t left = rows - r, upper = left < kTileSide ? left : kTileSide;
  configure_tiles(upper, left - upper, bytes);
  block(r, left, left > upper);
}

}  // namespace assay::kernels
