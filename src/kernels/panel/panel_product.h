// Products of float32 rows with a constant matrix in panels of columns, in 32 or 16 bits. Sums are
// float32 in every form.
#pragma once

#include <cstdint>

#include "kernels/panel/panel_matrix.h"

namespace assay::kernels {

/// Packs the float32 elements at source[row * row_stride + column * column_stride], rounded to the type of
/// storage. The source may begin at any address.
void pack_panels(const PanelMatrix& matrix, const void* source, int64_t row_stride, int64_t column_stride,
                 void* packed);

/// Rows of a left operand, `stride` apart: each in one piece, or in runs of `run` numbers that begin
/// `distance` apart, like a pixel's channels in blocks. `run` is 4, 8 or 16, and divides k.
struct PanelRows {
  const float* first;
  int64_t stride;
  int64_t run = 0;  ///< 0: in one piece
  int64_t distance = 0;
};

/// sums[r, c] = bias[c] + sum over k of a[r, k] * matrix[k, c] for the columns of `count` panels from `panel`
/// on, columns beyond n included. Rows of `sums` are `stride` apart. `bias` may be null; it begins with that
/// of the first column and has as many elements as there are columns.
void panel_product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                   const PanelRows& a, int64_t rows, const float* bias, float* sums, int64_t stride) noexcept;

/// Products of a sum of k that panel_product_in_parts() adds up before they join the sum of all: rounding
/// errors grow with the parts' length and number, not with k (N. J. Higham, The Accuracy of Floating Point
/// Summation, SIAM J. Sci. Comput. 14(4), 1993, on blocked sums). Short parts take longer.
constexpr int64_t part_depth(int64_t k) { return k < 128 ? 16 : 32; }

/// panel_product() of a matrix of float32, without bias, that rounds less, as Winograd's transforms magnify
/// rounding errors.
void panel_product_in_parts(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                            const float* a, int64_t a_stride, int64_t rows, float* sums,
                            int64_t stride) noexcept;

/// A part of a float32 matrix in panels: `depth` rows of `count` panels.
struct PanelBlock {
  const float* data;  ///< the first row of the first panel
  int64_t panel;      ///< elements from one panel to the next
  int64_t count, depth;
};

/// sums[r, c] = start[r, c] + sum over k of a[r, k] * block[k, c]. Rows of `start` are `start_stride` apart:
/// 0 for a bias, which all rows begin with; null: sums begin with 0; it may be `sums`.
void panel_block_product(const PanelBlock& block, const PanelRows& a, int64_t rows, const float* start,
                         int64_t start_stride, float* sums, int64_t stride) noexcept;

/// True where this processor multiplies pairs of bfloat16 (on x86-64: AVX-512 BF16).
bool multiplies_bfloat16() noexcept;

/// panel_product() with rows in bfloat16, for a matrix in bfloat16: products of pairs are summed in float32
/// without a rounding between, subnormal numbers count as 0. `a_stride` is even, and rows hold a 0 after an
/// odd k. Only where multiplies_bfloat16().
void bfloat16_product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                      const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                      int64_t stride) noexcept;

}  // namespace assay::kernels
