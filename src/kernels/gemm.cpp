#include "kernels/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/parallel.h"
#include "kernels/gemm_tile.h"

namespace assay::kernels {
namespace {

/// Blocking: a kDepth-deep strip of A for one tile stays in the first-level cache, a kRowBlock x kDepth block
/// of A in the second, a kDepth x kColumnBlock block of B in the third; kColumnBlock is a multiple of every
/// panel width.
constexpr int64_t kDepth = 256;
constexpr int64_t kRowBlock = 128;
constexpr int64_t kColumnBlock = 480;
/// Multiplications below which a second thread costs more than it saves.
constexpr int64_t kParallelWork = 1 << 16;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

struct Free {
  void operator()(double* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<double[], Free>;

Buffer allocate(int64_t count) {
  const size_t bytes = static_cast<size_t>(round_up(std::max<int64_t>(count, 1), 8)) * sizeof(double);
  auto* p = static_cast<double*>(std::aligned_alloc(64, bytes));
  if (p == nullptr) throw std::bad_alloc();
  return Buffer(p);
}

/// Panels of a matrix in memory.
class MatrixPanels final : public PanelSource {
 public:
  explicit MatrixPanels(MatrixView b) : b_(b) {}

  void pack(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
            double* out) const override {
    for (int64_t c = 0; c < columns; c += width, out += rows * width) {
      const int64_t valid = std::min(width, columns - c);
      const double* from = b_.data + row * b_.row_stride + (column + c) * b_.column_stride;
      if (valid < width) std::fill_n(out, rows * width, 0.0);
      if (b_.column_stride == 1) {
        for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * b_.row_stride, valid, out + r * width);
      } else {
        for (int64_t j = 0; j < valid; ++j)
          for (int64_t r = 0; r < rows; ++r)
            out[r * width + j] = from[r * b_.row_stride + j * b_.column_stride];
      }
    }
  }

 private:
  MatrixView b_;
};

/// One tile of A, N rows that are all there: element (r, p) to out[p * N + r].
template <int64_t N>
void pack_tile(MatrixView a, int64_t depth, double* out) {
  for (int64_t p = 0; p < depth; ++p) {
    const double* from = a.data + p * a.column_stride;
#pragma GCC unroll 8
    for (int64_t r = 0; r < N; ++r) out[p * N + r] = from[r * a.row_stride];
  }
}

/// The last tile of A: `valid` rows, filled up with zeros to `padded`.
void pack_partial_tile(MatrixView a, int64_t valid, int64_t padded, int64_t depth, double* out) {
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t r = 0; r < padded; ++r)
      out[p * padded + r] = r < valid ? a.data[r * a.row_stride + p * a.column_stride] : 0.0;
}

/// Packs rows x depth elements of A as tiles of `tile_rows` rows, the last one padded to padded_rows().
void pack_rows(MatrixView a, int64_t rows, int64_t depth, int64_t tile_rows, double* out) {
  for (int64_t i = 0; i < rows; i += tile_rows) {
    const int64_t valid = std::min(tile_rows, rows - i), padded = padded_rows(valid);
    const MatrixView tile = {a.data + i * a.row_stride, a.row_stride, a.column_stride};
    if (valid == 8)
      pack_tile<8>(tile, depth, out);
    else if (valid == 4)
      pack_tile<4>(tile, depth, out);
    else
      pack_partial_tile(tile, valid, padded, depth, out);
    out += depth * padded;
  }
}

/// Rows [m0, m1) and columns [n0, n1) of C.
struct Region {
  int64_t m0, m1, n0, n1;
};

/// One block of C from packed A and B.
void multiply_block(const TileKernel& kernel, int64_t rows, int64_t columns, int64_t depth, const double* a,
                    const double* b, double* c, int64_t ldc, bool add) {
  for (int64_t j = 0; j < columns; j += kernel.width)
    for (int64_t i = 0; i < rows; i += kernel.rows)
      kernel.multiply(std::min(kernel.rows, rows - i), std::min(kernel.width, columns - j), depth,
                      a + i * depth, b + j * depth, c + i * ldc + j, ldc, add);
}

void multiply_region(const TileKernel& kernel, Region region, int64_t k, MatrixView a, const PanelSource& b,
                     double* c, int64_t ldc) {
  const int64_t m = region.m1 - region.m0, n = region.n1 - region.n0;
  if (m == 0 || n == 0) return;
  const int64_t depth_limit = std::min(k, kDepth);
  const Buffer packed_a = allocate(round_up(std::min(m, kRowBlock), kernel.rows) * depth_limit);
  const Buffer packed_b = allocate(round_up(std::min(n, kColumnBlock), kernel.width) * depth_limit);
  for (int64_t j = region.n0; j < region.n1; j += kColumnBlock) {
    const int64_t columns = std::min(kColumnBlock, region.n1 - j);
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      b.pack(p, depth, j, columns, kernel.width, packed_b.get());
      for (int64_t i = region.m0; i < region.m1; i += kRowBlock) {
        const int64_t rows = std::min(kRowBlock, region.m1 - i);
        const MatrixView block = {a.data + i * a.row_stride + p * a.column_stride, a.row_stride,
                                  a.column_stride};
        pack_rows(block, rows, depth, kernel.rows, packed_a.get());
        multiply_block(kernel, rows, columns, depth, packed_a.get(), packed_b.get(), c + i * ldc + j, ldc,
                       p > 0);
      }
    }
  }
}

/// How many threads share the rows (the rest share the columns), so that the largest region has the fewest
/// tiles.
int64_t row_splits(int64_t m, int64_t n, int64_t threads, const TileKernel& kernel) {
  const int64_t tall = (m + kernel.rows - 1) / kernel.rows, wide = (n + kernel.width - 1) / kernel.width;
  int64_t best = 1, best_cost = INT64_MAX;
  for (int64_t s = 1; s <= threads; ++s) {
    if (threads % s != 0) continue;
    const int64_t columns = threads / s;
    const int64_t cost = ((tall + s - 1) / s) * ((wide + columns - 1) / columns);
    if (cost < best_cost) {
      best = s;
      best_cost = cost;
    }
  }
  return best;
}

void multiply_vector(int64_t m, int64_t k, MatrixView a, const double* x, int64_t x_stride, double* y,
                     int64_t y_stride) {
  const Buffer packed = allocate(x_stride == 1 ? 1 : k);
  if (x_stride != 1) {
    for (int64_t p = 0; p < k; ++p) packed[p] = x[p * x_stride];
    x = packed.get();
  }
  const TileKernel& kernel = tile_kernel();
  parallel_for(
      m, std::max<int64_t>(1, kParallelWork / std::max<int64_t>(k, 1)), [&](int64_t first, int64_t last) {
        const double* rows = a.data + first * a.row_stride;
        if (a.column_stride == 1)
          kernel.dot_rows(last - first, k, rows, a.row_stride, x, y + first * y_stride, y_stride);
        else
          kernel.sum_columns(last - first, k, rows, a.column_stride, x, y + first * y_stride, y_stride);
      });
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, const PanelSource& b, double* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0);
    return;
  }
  const TileKernel& kernel = tile_kernel();
  const bool small = m * n < kParallelWork / k;
  const int64_t threads = small ? 1 : thread_count();
  const int64_t down = row_splits(m, n, threads, kernel), across = threads / down;
  const int64_t rows = round_up((m + down - 1) / down, kernel.rows);
  const int64_t columns = round_up((n + across - 1) / across, kernel.width);
  parallel_for(threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      const int64_t i = std::min(m, t / across * rows), j = std::min(n, t % across * columns);
      multiply_region(kernel, {i, std::min(m, i + rows), j, std::min(n, j + columns)}, k, a, b, c, ldc);
    }
  });
}

void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, double* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (n == 1 && (a.column_stride == 1 || a.row_stride == 1))
    return multiply_vector(m, k, a, b.data, b.row_stride, c, ldc);
  if (m == 1 && (b.column_stride == 1 || b.row_stride == 1))
    return multiply_vector(n, k, {b.data, b.column_stride, b.row_stride}, a.data, a.column_stride, c, 1);
  gemm(m, n, k, a, MatrixPanels(b), c, ldc);
}

}  // namespace assay::kernels
