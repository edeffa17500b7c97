// Convolution of the reference, in double, over any number of spatial axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/gemm.h"

namespace assay::kernels {

/// A window that slides over an image. One entry per spatial axis, outermost first; every extent is at
/// least 1. The tap t of the window at position o is at o * stride + t * dilation - begin; taps outside [0,
/// in) read padding.
struct Window {
  std::vector<int64_t> in, out, kernel, strides, dilations;
  std::vector<int64_t> begin;  ///< padding before the first element
  std::vector<int64_t> end;    ///< padding after the last

  size_t rank() const { return in.size(); }
  int64_t in_size() const { return product(in); }
  int64_t out_size() const { return product(out); }
  int64_t taps() const { return product(kernel); }
  /// The extent of input that a window spans along an axis.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }

 private:
  static int64_t product(const std::vector<int64_t>& v) {
    int64_t n = 1;
    for (const int64_t x : v) n *= x;
    return n;
  }
};

/// A range of indices [first, last).
struct Range {
  int64_t first, last;
};

/// The positions o in [0, out) for which o * stride + offset is in [0, in).
Range positions_inside(int64_t in, int64_t out, int64_t stride, int64_t offset);

/// The matrix whose product with the weights is a convolution: row (channel, tap), column output position.
/// Nothing of it is stored; blocks are gathered on demand.
class ImageColumns final : public PanelSource {
 public:
  /// `image` holds the channels of one group, in_size() elements each; it and `window` must outlive this.
  ImageColumns(const double* image, const Window& window);
  void pack(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
            double* out) const override {
    pack_from(image_, row, rows, column, columns, width, out);
  }
  /// The same of another image of this size, of float or double.
  template <typename T>
  void pack_from(const T* image, int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
                 T* out) const;

 private:
  const double* image_;
  const Window& w_;
  std::vector<int64_t> in_strides_;
  int64_t in_size_, taps_;
};

/// Channels and images around a window.
struct ConvSize {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  ///< in all groups together
};

/// y[b, o] = bias[o] + sum over the channels c of o's group and the taps t of w[o, c, t] * x[b, c, position +
/// t]. x: batch * in_channels images; w: out_channels * (in_channels / groups) kernels; y: batch *
/// out_channels images of window.out; bias may be null. Parallel. At most in_channels / groups * taps + 1
/// roundings per element.
void convolve(const ConvSize& size, const Window& window, const double* x, const double* w,
              const double* bias, double* y);

/// The transpose of convolve() as a linear map, with the bias added: every x[b, c, position] adds w[c, o, t]
/// * x to y[b, o, position + t]. Here `window` slides over the output: window.in are the extents of y,
/// window.out those of x. x: batch * in_channels images of window.out; w: in_channels * (out_channels /
/// groups) kernels; y: batch * out_channels images of window.in. Parallel. At most in_channels / groups *
/// taps + 1 roundings per element.
void convolve_transposed(const ConvSize& size, const Window& window, const double* x, const double* w,
                         const double* bias, double* y);

}  // namespace assay::kernels
