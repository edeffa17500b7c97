#include "kernels/conv.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::kernels {
namespace {

/// Splits a row-major index into coordinates.
void unravel(int64_t index, const std::vector<int64_t>& extents, size_t rank, int64_t* out) {
  for (size_t d = rank; d-- > 0;) {
    out[d] = index % extents[d];
    index /= extents[d];
  }
}

/// True when the output positions are the input positions: the image is the matrix as it lies in memory.
bool is_pointwise(const Window& w) {
  for (size_t d = 0; d < w.rank(); ++d)
    if (w.kernel[d] != 1 || w.strides[d] != 1 || w.begin[d] != 0 || w.out[d] != w.in[d]) return false;
  return true;
}

/// One line of output positions along the last axis, within a block of columns.
struct Line {
  int64_t length;
  int64_t first;                ///< position along the last axis
  std::vector<int64_t> corner;  ///< input coordinate of tap 0 along the other axes
};

std::vector<Line> lines_of(const Window& w, int64_t column, int64_t columns) {
  const size_t outer = w.rank() - 1;
  const int64_t row = w.out[outer];
  std::vector<Line> lines;
  std::vector<int64_t> at(outer);
  for (int64_t j = column; j < column + columns;) {
    Line line;
    line.first = j % row;
    line.length = std::min(row - line.first, column + columns - j);
    unravel(j / row, w.out, outer, at.data());
    for (size_t d = 0; d < outer; ++d) line.corner.push_back(at[d] * w.strides[d] - w.begin[d]);
    j += line.length;
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Where a line's tap `tap` starts in the image, or -1 when it reads padding only.
int64_t line_offset(const Window& w, const std::vector<int64_t>& strides, const Line& line,
                    const int64_t* tap) {
  int64_t offset = 0;
  for (size_t d = 0; d < line.corner.size(); ++d) {
    const int64_t at = line.corner[d] + tap[d] * w.dilations[d];
    if (at < 0 || at >= w.in[d]) return -1;
    offset += at * strides[d];
  }
  return offset;
}

/// Copies every stride-th element.
template <typename T>
void gather(const T* from, int64_t stride, int64_t count, T* out) {
  if (stride == 1) {
    std::copy_n(from, count, out);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = from[i * stride];
  }
}

/// A tap of the kernel along a line of outputs.
struct Tap {
  std::vector<int64_t> at;
  int64_t shift;  ///< of its input from the line's
  Range inside;   ///< outputs whose input is no padding
};

std::vector<Tap> taps_of(const Window& w) {
  const size_t last = w.rank() - 1;
  std::vector<Tap> taps(static_cast<size_t>(w.taps()));
  for (size_t t = 0; t < taps.size(); ++t) {
    taps[t].at.resize(w.rank());
    unravel(static_cast<int64_t>(t), w.kernel, w.rank(), taps[t].at.data());
    taps[t].shift = taps[t].at[last] * w.dilations[last] - w.begin[last];
    taps[t].inside = positions_inside(w.in[last], w.out[last], w.strides[last], taps[t].shift);
  }
  return taps;
}

/// Adds one plane's convolution with one kernel to y.
void add_plane(const Window& w, const std::vector<int64_t>& strides, const std::vector<Line>& lines,
               const std::vector<Tap>& taps, const double* x, const double* kernel, double* y) {
  const int64_t row = w.out[w.rank() - 1], stride = w.strides[w.rank() - 1];
  for (const Line& line : lines) {
    for (size_t t = 0; t < taps.size(); ++t) {
      const int64_t offset = line_offset(w, strides, line, taps[t].at.data());
      if (offset < 0) continue;
      const Range inside = taps[t].inside;
      const int64_t begin = offset + taps[t].shift;
      const double weight = kernel[t];
      if (stride == 1) {
#pragma omp simd
        for (int64_t i = inside.first; i < inside.last; ++i) y[i] += weight * x[begin + i];
      } else {
        for (int64_t i = inside.first; i < inside.last; ++i) y[i] += weight * x[begin + i * stride];
      }
    }
    y += row;
  }
}

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

/// One input channel per group: no products worth a matrix.
void convolve_depthwise(const ConvSize& size, const Window& w, const double* x, const double* kernels,
                        const double* bias, double* y) {
  const int64_t in_size = w.in_size(), out_size = w.out_size(), taps = w.taps();
  const int64_t multiplier = size.out_channels / size.groups;
  const std::vector<int64_t> strides = row_major_strides(w.in);
  const std::vector<Line> lines = lines_of(w, 0, out_size);
  const std::vector<Tap> all_taps = taps_of(w);
  parallel_for(size.batch * size.out_channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t channel = i % size.out_channels;
      const int64_t plane = i / size.out_channels * size.in_channels + channel / multiplier;
      std::fill_n(y + i * out_size, out_size, bias != nullptr ? bias[channel] : 0.0);
      add_plane(w, strides, lines, all_taps, x + plane * in_size, kernels + channel * taps, y + i * out_size);
    }
  });
}

/// Adds one channel's rows of a column block back into its plane: the transpose of ImageColumns::pack.
void scatter_plane(const Window& w, const std::vector<int64_t>& strides, const std::vector<Line>& lines,
                   int64_t columns, const double* rows, double* plane) {
  const size_t last = w.rank() - 1;
  const int64_t taps = w.taps(), stride = w.strides[last];
  std::vector<int64_t> tap(w.rank());
  for (int64_t t = 0; t < taps; ++t) {
    unravel(t, w.kernel, w.rank(), tap.data());
    const int64_t shift = tap[last] * w.dilations[last] - w.begin[last];
    const Range inside = positions_inside(w.in[last], w.out[last], stride, shift);
    const double* from = rows + t * columns;
    for (const Line& line : lines) {
      const int64_t offset = line_offset(w, strides, line, tap.data());
      const int64_t first = std::clamp<int64_t>(inside.first - line.first, 0, line.length);
      const int64_t end =
          offset < 0 ? first : std::clamp<int64_t>(inside.last - line.first, first, line.length);
      const int64_t begin = offset + line.first * stride + shift;
      for (int64_t i = first; i < end; ++i) plane[begin + i * stride] += from[i];
      from += line.length;
    }
  }
}

/// Elements of the column block that convolve_transposed works through.
constexpr int64_t kColumnBlockSize = 1 << 19;

/// Runs the items in parallel when that shares them out evenly; else one after the other, each in parallel by
/// itself.
template <typename F>
void for_each_item(int64_t items, F one) {
  const int64_t threads = thread_count();
  if (items % threads == 0 || items > 8 * threads) {
    parallel_for(items, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) one(i);
    });
  } else {
    for (int64_t i = 0; i < items; ++i) one(i);
  }
}

void add_bias(int64_t channels, int64_t size, const double* bias, double* y) {
  for (int64_t o = 0; o < channels; ++o)
    for (int64_t j = 0; j < size; ++j) y[o * size + j] += bias[o];
}

}  // namespace

Range positions_inside(int64_t in, int64_t out, int64_t stride, int64_t offset) {
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = in - 1 - offset < 0 ? 0 : (in - 1 - offset) / stride + 1;
  return {std::min(first, out), std::max(std::min(first, out), std::min(last, out))};
}

ImageColumns::ImageColumns(const double* image, const Window& window)
    : image_(image),
      w_(window),
      in_strides_(row_major_strides(window.in)),
      in_size_(window.in_size()),
      taps_(window.taps()) {}

template <typename T>
void ImageColumns::pack_from(const T* all, int64_t row, int64_t rows, int64_t column, int64_t columns,
                             int64_t width, T* out) const {
  const size_t last = w_.rank() - 1;
  const int64_t stride = w_.strides[last];
  const std::vector<Line> lines = lines_of(w_, column, columns);
  const int64_t panels = (columns + width - 1) / width;
  std::vector<T> whole(static_cast<size_t>(panels * width), T(0));
  std::vector<int64_t> tap(w_.rank());
  for (int64_t r = 0; r < rows; ++r) {
    const T* image = all + (row + r) / taps_ * in_size_;
    unravel((row + r) % taps_, w_.kernel, w_.rank(), tap.data());
    const int64_t shift = tap[last] * w_.dilations[last] - w_.begin[last];
    const Range inside = positions_inside(w_.in[last], w_.out[last], stride, shift);
    T* to = whole.data();
    for (const Line& line : lines) {
      const int64_t offset = line_offset(w_, in_strides_, line, tap.data());
      const int64_t first = std::clamp<int64_t>(inside.first - line.first, 0, line.length);
      const int64_t end =
          offset < 0 ? first : std::clamp<int64_t>(inside.last - line.first, first, line.length);
      std::fill_n(to, first, T(0));
      if (end > first)
        gather(image + offset + (line.first + first) * stride + shift, stride, end - first, to + first);
      std::fill(to + end, to + line.length, T(0));
      to += line.length;
    }
    for (int64_t p = 0; p < panels; ++p)
      std::copy_n(whole.data() + p * width, width, out + (p * rows + r) * width);
  }
}

template void ImageColumns::pack_from(const double*, int64_t, int64_t, int64_t, int64_t, int64_t,
                                      double*) const;
template void ImageColumns::pack_from(const float*, int64_t, int64_t, int64_t, int64_t, int64_t,
                                      float*) const;

void convolve(const ConvSize& size, const Window& w, const double* x, const double* weights,
              const double* bias, double* y) {
  const int64_t channels = size.in_channels / size.groups, kernels = size.out_channels / size.groups;
  if (channels == 1 && size.groups > 1) return convolve_depthwise(size, w, x, weights, bias, y);
  const int64_t in_size = w.in_size(), out_size = w.out_size(), depth = channels * w.taps();
  const bool pointwise = is_pointwise(w);
  const auto one = [&](int64_t item) {
    const int64_t group = item % size.groups;
    const double* image = x + item * channels * in_size;
    const MatrixView a = {weights + group * kernels * depth, depth, 1};
    double* to = y + item * kernels * out_size;
    if (pointwise)
      gemm(kernels, out_size, depth, a, MatrixView{image, in_size, 1}, to, out_size);
    else
      gemm(kernels, out_size, depth, a, ImageColumns(image, w), to, out_size);
    if (bias != nullptr) add_bias(kernels, out_size, bias + group * kernels, to);
  };
  for_each_item(size.batch * size.groups, one);
}

void convolve_transposed(const ConvSize& size, const Window& w, const double* x, const double* weights,
                         const double* bias, double* y) {
  const int64_t channels = size.in_channels / size.groups, kernels = size.out_channels / size.groups;
  const int64_t positions = w.out_size(), plane = w.in_size(), taps = w.taps(), rows = kernels * taps;
  for (int64_t i = 0; i < size.batch * size.out_channels; ++i)
    std::fill_n(y + i * plane, plane, bias != nullptr ? bias[i % size.out_channels] : 0.0);
  const std::vector<int64_t> strides = row_major_strides(w.in);
  const int64_t block =
      std::min(positions, std::max<int64_t>(16, kColumnBlockSize / std::max<int64_t>(rows, 1)));
  const auto one = [&](int64_t item) {
    const double* image = x + item * channels * positions;
    const MatrixView a = {weights + item % size.groups * channels * rows, 1, rows};
    std::vector<double> matrix(static_cast<size_t>(rows * block));
    for (int64_t j = 0; j < positions; j += block) {
      const int64_t columns = std::min(block, positions - j);
      gemm(rows, columns, channels, a, MatrixView{image + j, positions, 1}, matrix.data(), columns);
      const std::vector<Line> lines = lines_of(w, j, columns);
      parallel_for(kernels, 1, [&](int64_t first, int64_t last) {
        for (int64_t o = first; o < last; ++o)
          scatter_plane(w, strides, lines, columns, matrix.data() + o * taps * columns,
                        y + (item * kernels + o) * plane);
      });
    }
  };
  for_each_item(size.batch * size.groups, one);
}

}  // namespace assay::kernels
