#include "kernels/panel/amx_tiles.h"

#include "kernels/amx_x86.h"
#include "kernels/panel/bfloat16_tiles.h"

namespace assay::kernels {
namespace {

static_assert(kTileSide == kPanelColumns);
/// Numbers in a row of a tile of factors.
constexpr int64_t kStep = 32;
/// So few rows are multiplied as fast by vectors, which need no configuration.
constexpr int64_t kFewRows = 4;

/// All rows by one or two panels, in steps of so many bytes.
void multiply_rows(const TileBlock& first, int64_t rows, int64_t bytes, bool has_right) {
  for_tile_rows(rows, bytes, [&](int64_t row, int64_t /*count*/, bool has_lower) {
    TileBlock b = first;
    b.advance(row);
    multiply_block<AmxNumbers::kBFloat16>(b, has_lower, has_right);
  });
}

}  // namespace

void multiply_bfloat16_amx(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                           const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                           int64_t stride) noexcept {
  if (rows <= kFewRows)
    return multiply_bfloat16_tiles(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
  const int64_t steps = matrix.k / kStep, rest = matrix.k % kStep + matrix.k % 2;
  for (int64_t p = 0; p < count; p += 2) {
    const bool has_right = p + 1 < count;
    TileBlock b{.a = reinterpret_cast<const char*>(a),
                .a_bytes = a_stride * 2,
                .w = static_cast<const char*>(packed) + (panel + p) * matrix.panel_bytes(),
                .panel_bytes = matrix.panel_bytes(),
                .steps = steps,
                .start = bias == nullptr ? nullptr : reinterpret_cast<const char*>(bias + p * kPanelColumns),
                .start_bytes = 0,
                .sums = reinterpret_cast<char*>(sums + p * kPanelColumns),
                .sum_bytes = stride * 4};
    if (steps > 0) {
      multiply_rows(b, rows, kTileRowBytes, has_right);
      b.start = b.sums, b.start_bytes = b.sum_bytes;
    }
    if (rest == 0) continue;
    b.a += steps * kTileRowBytes;
    b.w += steps * kTileSide * kTileRowBytes;
    b.steps = 1;
    multiply_rows(b, rows, rest * 2, has_right);
  }
  release_tiles();
}

}  // namespace assay::kernels
