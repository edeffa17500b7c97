#include "kernels/gemm_tile.h"

#include <utility>

#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_tile.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
/// Vectors across a panel, and rows of a tile: rows * vectors accumulators, the row of B and one element of A
/// fill the registers (32 or 16 of them) without spilling.
constexpr int64_t kVectors = 3;
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int64_t kRows = 8;
#else
constexpr int64_t kRows = 4;
#endif
constexpr int64_t kWidth = kVectors * kLanes;

/// One row of a tile: N vectors of sums.
template <size_t N>
struct Sums {
  V v[N];
};

template <size_t N>
HWY_INLINE void add_products(Sums<N>& sums, double x, const Sums<N>& b) {
  const V xs = hn::Set(D(), x);
  sums.v[0] = hn::MulAdd(xs, b.v[0], sums.v[0]);
  if constexpr (N > 1) sums.v[1] = hn::MulAdd(xs, b.v[1], sums.v[1]);
  if constexpr (N > 2) sums.v[2] = hn::MulAdd(xs, b.v[2], sums.v[2]);
}

template <size_t N>
HWY_INLINE Sums<N> load(const double* p) {
  Sums<N> s;
  s.v[0] = hn::LoadU(D(), p);
  if constexpr (N > 1) s.v[1] = hn::LoadU(D(), p + kLanes);
  if constexpr (N > 2) s.v[2] = hn::LoadU(D(), p + 2 * kLanes);
  return s;
}

template <size_t N>
HWY_INLINE void store(const Sums<N>& s, double* p, bool add) {
  Sums<N> old;
  if (add) {
    old = load<N>(p);
  } else {
    old.v[0] = hn::Zero(D());
    if constexpr (N > 1) old.v[1] = hn::Zero(D());
    if constexpr (N > 2) old.v[2] = hn::Zero(D());
  }
  hn::StoreU(hn::Add(old.v[0], s.v[0]), D(), p);
  if constexpr (N > 1) hn::StoreU(hn::Add(old.v[1], s.v[1]), D(), p + kLanes);
  if constexpr (N > 2) hn::StoreU(hn::Add(old.v[2], s.v[2]), D(), p + 2 * kLanes);
}

/// A tile of sizeof...(R) rows and N vectors; C must have room for all of it.
template <size_t N, size_t... R>
HWY_INLINE void full_tile(std::index_sequence<R...>, int64_t k, const double* a, const double* b, double* c,
                          int64_t ldc, bool add) {
  constexpr int64_t kTileRows = sizeof...(R);
  Sums<N> sums[kTileRows];
  const V zero = hn::Zero(D());
  ((sums[R].v[0] = zero), ...);
  if constexpr (N > 1) ((sums[R].v[1] = zero), ...);
  if constexpr (N > 2) ((sums[R].v[2] = zero), ...);
  for (int64_t p = 0; p < k; ++p) {
    const Sums<N> row = load<N>(b + p * kWidth);
    (add_products<N>(sums[R], a[p * kTileRows + static_cast<int64_t>(R)], row), ...);
  }
  (store<N>(sums[R], c + static_cast<int64_t>(R) * ldc, add), ...);
}

template <size_t N, size_t kTileRows>
HWY_NOINLINE void tile(int64_t rows, int64_t columns, int64_t k, const double* a, const double* b, double* c,
                       int64_t ldc, bool add) {
  constexpr auto kSequence = std::make_index_sequence<kTileRows>();
  constexpr int64_t kTileColumns = static_cast<int64_t>(N) * kLanes;
  if (rows == static_cast<int64_t>(kTileRows) && columns == kTileColumns) {
    full_tile<N>(kSequence, k, a, b, c, ldc, add);
    return;
  }
  double whole[kTileRows * N * static_cast<size_t>(kLanes)];
  full_tile<N>(kSequence, k, a, b, whole, kTileColumns, false);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const double sum = whole[i * kTileColumns + j];
      c[i * ldc + j] = add ? c[i * ldc + j] + sum : sum;
    }
}

template <size_t kTileRows>
void tile_of_rows(int64_t rows, int64_t columns, int64_t k, const double* a, const double* b, double* c,
                  int64_t ldc, bool add) {
  if (columns > 2 * kLanes) return tile<3, kTileRows>(rows, columns, k, a, b, c, ldc, add);
  if (columns > kLanes) return tile<2, kTileRows>(rows, columns, k, a, b, c, ldc, add);
  tile<1, kTileRows>(rows, columns, k, a, b, c, ldc, add);
}

void multiply(int64_t rows, int64_t columns, int64_t k, const double* a, const double* b, double* c,
              int64_t ldc, bool add) {
  if constexpr (kRows > 4)
    if (rows > 4) return tile_of_rows<8>(rows, columns, k, a, b, c, ldc, add);
  if (rows > 2) return tile_of_rows<4>(rows, columns, k, a, b, c, ldc, add);
  if (rows > 1) return tile_of_rows<2>(rows, columns, k, a, b, c, ldc, add);
  tile_of_rows<1>(rows, columns, k, a, b, c, ldc, add);
}

void dot_rows(int64_t m, int64_t k, const double* a, int64_t row_stride, const double* x, double* y,
              int64_t y_stride) {
  const D d;
  for (int64_t i = 0; i < m; ++i) {
    const double* row = a + i * row_stride;
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    int64_t p = 0;
    for (; p + 4 * kLanes <= k; p += 4 * kLanes) {
      s0 = hn::MulAdd(hn::LoadU(d, row + p), hn::LoadU(d, x + p), s0);
      s1 = hn::MulAdd(hn::LoadU(d, row + p + kLanes), hn::LoadU(d, x + p + kLanes), s1);
      s2 = hn::MulAdd(hn::LoadU(d, row + p + 2 * kLanes), hn::LoadU(d, x + p + 2 * kLanes), s2);
      s3 = hn::MulAdd(hn::LoadU(d, row + p + 3 * kLanes), hn::LoadU(d, x + p + 3 * kLanes), s3);
    }
    double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
    for (; p < k; ++p) sum += row[p] * x[p];
    y[i * y_stride] = sum;
  }
}

void sum_columns(int64_t m, int64_t k, const double* a, int64_t column_stride, const double* x, double* y,
                 int64_t y_stride) {
  const D d;
  int64_t i = 0;
  for (; i + 4 * kLanes <= m; i += 4 * kLanes) {
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t p = 0; p < k; ++p) {
      const double* column = a + p * column_stride + i;
      const V xs = hn::Set(d, x[p]);
      s0 = hn::MulAdd(xs, hn::LoadU(d, column), s0);
      s1 = hn::MulAdd(xs, hn::LoadU(d, column + kLanes), s1);
      s2 = hn::MulAdd(xs, hn::LoadU(d, column + 2 * kLanes), s2);
      s3 = hn::MulAdd(xs, hn::LoadU(d, column + 3 * kLanes), s3);
    }
    double sums[4 * kLanes];
    hn::StoreU(s0, d, sums);
    hn::StoreU(s1, d, sums + kLanes);
    hn::StoreU(s2, d, sums + 2 * kLanes);
    hn::StoreU(s3, d, sums + 3 * kLanes);
    for (int64_t j = 0; j < 4 * kLanes; ++j) y[(i + j) * y_stride] = sums[j];
  }
  for (; i < m; ++i) {
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += a[p * column_stride + i] * x[p];
    y[i * y_stride] = sum;
  }
}

TileKernel make_kernel() {
  return {
      .rows = kRows, .width = kWidth, .multiply = multiply, .dot_rows = dot_rows, .sum_columns = sum_columns};
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(make_kernel);

const TileKernel& tile_kernel() {
  static const TileKernel kernel = HWY_DYNAMIC_DISPATCH(make_kernel)();
  return kernel;
}

}  // namespace assay::kernels
#endif
