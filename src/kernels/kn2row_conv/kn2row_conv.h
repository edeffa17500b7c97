// Convolution and its transpose as one matrix product for every tap, on images with channels last: along a
// row of results a tap's pixels are a matrix in memory, so nothing is gathered, and neither padding nor the
// zeros between the pixels of a transposed convolution are computed.
#pragma once

#include <cstdint>

#include "kernels/conv.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels {

struct Kn2rowConv {
  /// Of the transpose: slides over the result, and its positions are the pixels of the image.
  Window window;
  bool transposed = false;
  int64_t channels = 0;  ///< of the image

  const std::vector<int64_t>& image() const { return transposed ? window.out : window.in; }
  const std::vector<int64_t>& result() const { return transposed ? window.in : window.out; }
  int64_t depth() const { return window.taps() * channels; }
  /// Products of pixels and taps in one image: the work of one pair of channels.
  int64_t products() const;
};

/// Results of one row, along the last axis.
struct Kn2rowPart {
  int64_t row;  ///< over all images and the other axes
  int64_t first, count;
};

/// Parts that may be computed together.
inline constexpr int64_t kMaxKn2rowParts = 64;

/// For every part, a matrix of `part_stride` elements, and each of its results, a row of `stride` elements:
/// sums[c] = bias[c] + sum over the taps and channels of pixel * matrix[tap * channels + channel, c], for the
/// columns of `panels` panels of `packed` from `panel` on; columns beyond the matrix's are written, too. At
/// most kMaxKn2rowParts parts. `bias` may be null; it begins with that of the first column and has as many
/// elements as there are columns.
void kn2row_products(const Kn2rowConv& conv, const PanelMatrix& matrix, const float* packed, int64_t panel,
                     int64_t panels, const float* x, const Kn2rowPart* parts, int64_t count,
                     const float* bias, float* sums, int64_t part_stride, int64_t stride) noexcept;

}  // namespace assay::kernels
