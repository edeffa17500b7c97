#include "kernels/approx_gemm/approx_gemm.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "kernels/approx_gemm/approx_tile.h"
#include "kernels/gemm_tile.h"

namespace assay::kernels {
namespace {

/// Numbers below this part of the largest make products that float32 may not hold.
constexpr double kRange = 0x1p-60;
/// Elements that are worth a thread.
constexpr int64_t kGrain = 1 << 15;
/// Rows of B that are packed at a time, and columns.
constexpr int64_t kDepth = 256, kColumns = 384;

using Floats = std::unique_ptr<float[]>;
Floats allocate(int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

/// What scales the numbers to at most 2; none where float32 has not their range.
std::optional<double> scale_of(const Extremes& x) {
  if (!x.finite) return {};
  if (x.largest == 0) return 1.0;
  const int exponent = std::ilogb(x.largest);
  if (x.least < kRange * x.largest || exponent < -1000) return {};
  return std::ldexp(1.0, -exponent);
}

/// Of `rows` lines of `columns` numbers, which lie next to each other.
std::optional<double> scale_of(const double* x, int64_t rows, int64_t columns, int64_t stride) {
  if (stride == columns) columns *= std::exchange(rows, 1);
  const ApproxTile& tile = approx_tile();
  Extremes all{.least = HUGE_VAL};
  std::mutex mutex;
  const auto take = [&](const double* from, int64_t count) {
    const Extremes part = tile.extremes(from, count);
    const std::lock_guard lock(mutex);
    all.largest = std::max(all.largest, part.largest);
    all.least = std::min(all.least, part.least);
    all.finite = all.finite && part.finite;
  };
  if (rows == 1)
    parallel_for(columns, kGrain, [&](int64_t first, int64_t last) { take(x + first, last - first); });
  else
    parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(columns, 1)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t r = first; r < last; ++r) take(x + r * stride, columns);
                 });
  return scale_of(all);
}

std::optional<double> scale_of(MatrixView a, int64_t rows, int64_t columns) {
  return a.column_stride == 1 ? scale_of(a.data, rows, columns, a.row_stride)
                              : scale_of(a.data, columns, rows, a.column_stride);
}

void round_run(ApproxOf what, const double* x, int64_t count, double scale, float* out) {
  approx_tile().round(what == ApproxOf::kMagnitudes, x, count, scale, out);
}

void round_strided(ApproxOf what, const double* x, int64_t stride, int64_t count, double scale, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    const double value = x[i * stride] * scale;
    out[i] = static_cast<float>(what == ApproxOf::kMagnitudes ? std::abs(value) : value);
  }
}

/// The left operand as tiles of rows, one after the other for each kDepth columns.
class PackedRows {
 public:
  PackedRows(ApproxOf what, MatrixView a, int64_t rows, int64_t depth, double scale)
      : rows_(rows), depth_(depth), tile_(approx_tile().rows) {
    padded_ = rows / tile_ * tile_ + (rows % tile_ == 0 ? 0 : padded_rows(rows % tile_));
    packed_ = allocate(padded_ * depth);
    const int64_t tiles = (rows + tile_ - 1) / tile_;
    parallel_for(tiles, std::max<int64_t>(1, kGrain / std::max<int64_t>(depth * tile_, 1)),
                 [&](int64_t first, int64_t last) {
                   const Floats line = allocate(depth);
                   for (int64_t t = first; t < last; ++t)
                     for (int64_t r = 0; r < padded_at(t); ++r) pack_row(what, a, t, r, scale, line.get());
                 });
  }
  /// Rows of a tile with its padding.
  int64_t padded_at(int64_t tile) const { return std::min(tile_, padded_ - tile * tile_); }
  /// Columns [p, p + depth of the block) of a tile; p is a multiple of kDepth.
  const float* at(int64_t tile, int64_t p) const { return packed_.get() + offset(tile, p); }

 private:
  int64_t offset(int64_t tile, int64_t p) const {
    return p * padded_ + tile * tile_ * std::min(kDepth, depth_ - p);
  }
  void pack_row(ApproxOf what, MatrixView a, int64_t tile, int64_t r, double scale, float* line) {
    const int64_t row = tile * tile_ + r, width = padded_at(tile);
    const double* from = a.data + row * a.row_stride;
    if (row >= rows_)
      std::fill_n(line, depth_, 0.0F);
    else if (a.column_stride == 1)
      round_run(what, from, depth_, scale, line);
    else
      round_strided(what, from, a.column_stride, depth_, scale, line);
    for (int64_t p = 0; p < depth_; p += kDepth) {
      float* to = packed_.get() + offset(tile, p) + r;
      for (int64_t k = p; k < std::min(p + kDepth, depth_); ++k, to += width) *to = line[k];
    }
  }

  int64_t rows_, depth_, tile_, padded_;
  Floats packed_;
};

/// C = A B / scale; pack(row, rows, column, columns, width, out) packs that part of B as panels.
template <typename Pack>
void multiply_columns(const PackedRows& a, int64_t m, int64_t n, int64_t k, double scale, Pack pack,
                      double* c, int64_t ldc) {
  const ApproxTile& tile = approx_tile();
  const int64_t panels = (n + tile.width - 1) / tile.width;
  const int64_t per_thread = (panels + thread_count() - 1) / thread_count();
  const int64_t together = std::min(per_thread, std::max<int64_t>(1, kColumns / tile.width));
  const int64_t groups = (panels + together - 1) / together, width = together * tile.width;
  const int64_t tiles = (m + tile.rows - 1) / tile.rows;
  parallel_for(groups, std::max<int64_t>(1, kGrain / (m * k * width)), [&](int64_t first, int64_t last) {
    const Floats packed = allocate(width * std::min(k, kDepth)), sums = allocate(tiles * tile.rows * width);
    for (int64_t g = first; g < last; ++g) {
      const int64_t column = g * width, columns = std::min(width, n - column);
      for (int64_t p = 0; p < k; p += kDepth) {
        const int64_t depth = std::min(kDepth, k - p);
        pack(p, depth, column, columns, tile.width, packed.get());
        for (int64_t j = 0; j < columns; j += tile.width)
          for (int64_t i = 0; i < tiles; ++i)
            tile.multiply(a.padded_at(i), columns - j, depth, a.at(i, p), packed.get() + j * depth,
                          sums.get() + i * tile.rows * width + j, width, p > 0);
      }
      for (int64_t r = 0; r < m; ++r)
        tile.widen(sums.get() + r * width, columns, scale, c + r * ldc + column);
    }
  });
}

/// Columns of an image that is rounded already.
struct RoundedColumns {
  ImageColumns image;
  const float* rounded;
  void operator()(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
                  float* out) const {
    image.pack_from(rounded, row, rows, column, columns, width, out);
  }
};

/// Columns of a matrix.
struct MatrixColumns {
  ApproxOf what;
  MatrixView b;
  double scale;
  void operator()(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
                  float* out) const {
    for (int64_t c = 0; c < columns; c += width, out += rows * width) {
      const int64_t valid = std::min(width, columns - c);
      if (valid < width) std::fill_n(out, rows * width, 0.0F);
      const double* from = b.data + row * b.row_stride + (column + c) * b.column_stride;
      for (int64_t r = 0; r < rows; ++r, from += b.row_stride) {
        if (b.column_stride == 1)
          round_run(what, from, valid, scale, out + r * width);
        else
          round_strided(what, from, b.column_stride, valid, scale, out + r * width);
      }
    }
  }
};

/// Whether the image is the matrix as it lies in memory.
bool is_one_tap(const Window& w) {
  for (size_t d = 0; d < w.rank(); ++d)
    if (w.kernel[d] != 1 || w.strides[d] != 1 || w.begin[d] != 0 || w.out[d] != w.in[d]) return false;
  return true;
}

}  // namespace

bool approx_gemm(ApproxOf what, int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c,
                 int64_t ldc) {
  if (m <= 0 || n <= 0 || k <= 0) return false;
  const std::optional<double> scale_a = scale_of(a, m, k), scale_b = scale_of(b, k, n);
  if (!scale_a || !scale_b) return false;
  const PackedRows rows(what, a, m, k, *scale_a);
  multiply_columns(rows, m, n, k, 1 / *scale_a / *scale_b, MatrixColumns{what, b, *scale_b}, c, ldc);
  return true;
}

bool approx_convolve(ApproxOf what, const ConvSize& size, const Window& window, const double* x,
                     const double* w, double* y) {
  const int64_t channels = size.in_channels / size.groups, kernels = size.out_channels / size.groups;
  const int64_t in_size = window.in_size(), out_size = window.out_size(), depth = channels * window.taps();
  const int64_t items = size.batch * size.groups;
  if (items <= 0 || kernels <= 0 || out_size <= 0 || depth <= 0 || (channels == 1 && size.groups > 1))
    return false;
  const std::optional<double> scale_x = scale_of(x, 1, items * channels * in_size, 0),
                              scale_w = scale_of(w, 1, size.out_channels * depth, 0);
  if (!scale_x || !scale_w) return false;
  std::vector<PackedRows> weights;
  for (int64_t g = 0; g < size.groups; ++g)
    weights.emplace_back(what, MatrixView{w + g * kernels * depth, depth, 1}, kernels, depth, *scale_w);
  const double back = 1 / *scale_x / *scale_w;
  const bool one_tap = is_one_tap(window);
  const auto one = [&](int64_t item) {
    const double* from = x + item * channels * in_size;
    const PackedRows& rows = weights[static_cast<size_t>(item % size.groups)];
    double* to = y + item * kernels * out_size;
    if (one_tap)
      multiply_columns(rows, kernels, out_size, depth, back,
                       MatrixColumns{what, {from, in_size, 1}, *scale_x}, to, out_size);
    else {
      const int64_t count = channels * in_size;
      const Floats rounded = allocate(count);
      parallel_for(count, kGrain, [&](int64_t first, int64_t last) {
        round_run(what, from + first, last - first, *scale_x, rounded.get() + first);
      });
      multiply_columns(rows, kernels, out_size, depth, back,
                       RoundedColumns{ImageColumns(from, window), rounded.get()}, to, out_size);
    }
  };
  // Many small ones in parallel, else each by itself.
  if (items >= 4 * thread_count())
    parallel_for(items, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) one(i);
    });
  else
    for (int64_t i = 0; i < items; ++i) one(i);
  return true;
}

}  // namespace assay::kernels
