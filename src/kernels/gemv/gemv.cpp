#include "kernels/gemv/gemv.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemv/gemv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/float16_vectors-inl.h"

#include "kernels/vector_math-inl.h"

#ifndef ASSAY_KERNELS_GEMV_PRODUCT_
#define ASSAY_KERNELS_GEMV_PRODUCT_
namespace assay::kernels {

/// Columns whose sums stay in the first-level cache.
inline constexpr int64_t kBand = 2048;

/// The product as the vector code sees it; W: how an element of the matrix is stored.
template <typename W>
struct Product {
  int64_t n, k;
  const float* x;
  const W* b;
  float* y;
};

struct Float16Bits {
  uint16_t bits;
};
struct Bfloat16Bits {
  uint16_t bits;
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE VF load_row(const float* p) { return hn::LoadU(F(), p); }
HWY_INLINE VF load_row(const Float16Bits* p) { return load_float16(F(), &p->bits); }
HWY_INLINE VF load_row(const Bfloat16Bits* p) {
  const hn::Rebind<uint16_t, F> u16;
  const hn::RebindToUnsigned<F> u32;
  return hn::BitCast(F(), hn::ShiftLeft<16>(hn::PromoteTo(u32, hn::LoadU(u16, &p->bits))));
}
/// The first n < Lanes elements; the others are 0.
template <typename W>
HWY_INLINE VF load_row_first(const W* p, size_t n) {
  W rest[hn::MaxLanes(F())] = {};
  for (size_t i = 0; i < n; ++i) rest[i] = p[i];
  return load_row(rest);
}
HWY_INLINE VF load_row_first(const float* p, size_t n) { return load_first(p, n); }

/// Adds S rows of the matrix, weighted, to M rows of sums, for one vector of columns. If they are short, asks
/// for what the next S rows have there: the processor's own reading ahead ends with each page.
template <int64_t M, int64_t S, bool kShort, typename W, typename Load, typename LoadRow, typename Store>
HWY_INLINE void add_streams(const Product<W>& p, int64_t k, int64_t column, Load load, LoadRow load_row,
                            Store store) {
  VF sums[M];
  ASSAY_UNROLL
  for (int64_t m = 0; m < M; ++m) sums[m] = load(p.y + m * p.n + column);
  ASSAY_UNROLL
  for (int64_t s = 0; s < S; ++s) {
    const W* at = p.b + (k + s) * p.n + column;
    if (kShort) __builtin_prefetch(at + S * p.n);
    const VF row = load_row(at);
    ASSAY_UNROLL
    for (int64_t m = 0; m < M; ++m) sums[m] = hn::MulAdd(constant(p.x[m * p.k + k + s]), row, sums[m]);
  }
  ASSAY_UNROLL
  for (int64_t m = 0; m < M; ++m) store(sums[m], p.y + m * p.n + column);
}

template <int64_t M, int64_t S, bool kShort, typename W>
HWY_INLINE void add_rows(const Product<W>& p, int64_t k, int64_t first, int64_t last) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t j = first;
  for (; j + lanes <= last; j += lanes)
    add_streams<M, S, kShort>(
        p, k, j, [](const float* q) HWY_ATTR { return hn::LoadU(F(), q); },
        [](const W* q) HWY_ATTR { return load_row(q); },
        [](VF v, float* q) HWY_ATTR { hn::StoreU(v, F(), q); });
  if (j == last) return;
  const auto left = static_cast<size_t>(last - j);
  add_streams<M, S, kShort>(
      p, k, j, [=](const float* q) HWY_ATTR { return load_first(q, left); },
      [=](const W* q) HWY_ATTR { return load_row_first(q, left); },
      [=](VF v, float* q) HWY_ATTR { store_first(v, q, left); });
}

/// Rows [first, last) of the matrix, a band of columns at a time whose sums stay in the first-level cache,
/// eight rows side by side.
template <int64_t M, typename W>
void sum_rows(const Product<W>& p, int64_t first, int64_t last) {
  for (int64_t j = 0; j < p.n; j += kBand) {
    const int64_t end = std::min(p.n, j + kBand);
    int64_t k = first;
    if (p.n <= kBand)
      for (; k + 8 <= last; k += 8) add_rows<M, 8, true>(p, k, j, end);
    else
      for (; k + 8 <= last; k += 8) add_rows<M, 8, false>(p, k, j, end);
    for (; k < last; ++k) add_rows<M, 1, false>(p, k, j, end);
  }
}

/// R rows of the transposed matrix times M rows of x.
template <int64_t M, int64_t R, typename W>
HWY_INLINE void dot_rows(const Product<W>& p, int64_t row) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  VF sums[R][M];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t m = 0; m < M; ++m) sums[r][m] = hn::Zero(f);
  const W* b = p.b + row * p.k;
  const auto step = [&](auto load, auto load_row, int64_t k) HWY_ATTR {
    VF x[M];
    ASSAY_UNROLL
    for (int64_t m = 0; m < M; ++m) x[m] = load(p.x + m * p.k + k);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VF v = load_row(b + r * p.k + k);
      ASSAY_UNROLL
      for (int64_t m = 0; m < M; ++m) sums[r][m] = hn::MulAdd(v, x[m], sums[r][m]);
    }
  };
  int64_t k = 0;
  for (; k + lanes <= p.k; k += lanes)
    step([](const float* q) HWY_ATTR { return hn::LoadU(F(), q); },
         [](const W* q) HWY_ATTR { return load_row(q); }, k);
  if (k < p.k) {
    const auto left = static_cast<size_t>(p.k - k);
    step([=](const float* q) HWY_ATTR { return load_first(q, left); },
         [=](const W* q) HWY_ATTR { return load_row_first(q, left); }, k);
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t m = 0; m < M; ++m) p.y[m * p.n + row + r] += hn::GetLane(hn::SumOfLanes(f, sums[r][m]));
}

template <int64_t M, typename W>
void dot_range(const Product<W>& p, int64_t first, int64_t last) {
  constexpr int64_t kRows = M == 1 ? 8 : 4;
  int64_t row = first;
  for (; row + kRows <= last; row += kRows) dot_rows<M, kRows>(p, row);
  for (; row < last; ++row) dot_rows<M, 1>(p, row);
}

template <typename W>
void sum_rows_as(int64_t m, const Product<W>& p, int64_t first, int64_t last) {
  if (m == 1) return sum_rows<1>(p, first, last);
  if (m == 2) return sum_rows<2>(p, first, last);
  if (m == 3) return sum_rows<3>(p, first, last);
  sum_rows<4>(p, first, last);
}

template <typename W>
void dot_range_as(int64_t m, const Product<W>& p, int64_t first, int64_t last) {
  if (m == 1) return dot_range<1>(p, first, last);
  if (m == 2) return dot_range<2>(p, first, last);
  if (m == 3) return dot_range<3>(p, first, last);
  dot_range<4>(p, first, last);
}

template <typename W>
Product<W> product_of(const GemvMatrix& b, int64_t n, int64_t k, const float* x, float* y) {
  return {n, k, x, static_cast<const W*>(b.data), y};
}

void sum_rows_of(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, float* y,
                 int64_t first, int64_t last) {
  switch (b.type) {
    case DType::kFloat16:
      return sum_rows_as(m, product_of<Float16Bits>(b, n, k, x, y), first, last);
    case DType::kBFloat16:
      return sum_rows_as(m, product_of<Bfloat16Bits>(b, n, k, x, y), first, last);
    default:
      return sum_rows_as(m, product_of<float>(b, n, k, x, y), first, last);
  }
}

void dot_range_of(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, float* y,
                  int64_t first, int64_t last) {
  switch (b.type) {
    case DType::kFloat16:
      return dot_range_as(m, product_of<Float16Bits>(b, n, k, x, y), first, last);
    case DType::kBFloat16:
      return dot_range_as(m, product_of<Bfloat16Bits>(b, n, k, x, y), first, last);
    default:
      return dot_range_as(m, product_of<float>(b, n, k, x, y), first, last);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_rows_of);
HWY_EXPORT(dot_range_of);

namespace {

/// Products that a thread should handle at least.
constexpr int64_t kGrain = 1 << 15;
void set_bias(int64_t m, int64_t n, const float* bias, float* y) {
  for (int64_t i = 0; i < m; ++i) {
    if (bias != nullptr)
      std::memcpy(y + i * n, bias, static_cast<size_t>(n) * sizeof(float));
    else
      std::memset(y + i * n, 0, static_cast<size_t>(n) * sizeof(float));
  }
}

}  // namespace

int64_t gemv_columns_parts(int64_t m, int64_t n, int64_t k, int64_t threads) {
  return std::clamp<int64_t>(m * n * k / kGrain, 1, std::max<int64_t>(1, std::min(threads, k / 8)));
}

void gemv_columns(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, const float* bias,
                  float* y, float* scratch, int64_t parts) noexcept {
  const auto run = HWY_DYNAMIC_DISPATCH(sum_rows_of);
  const int64_t size = m * n;
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      float* sums = part == 0 ? y : scratch + (part - 1) * size;
      set_bias(m, n, part == 0 ? bias : nullptr, sums);
      run(m, n, k, x, b, sums, k * part / parts, k * (part + 1) / parts);
    }
  });
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < size; ++i) y[i] += scratch[(part - 1) * size + i];
}

void gemv_rows(int64_t m, int64_t n, int64_t k, const float* x, const GemvMatrix& b, const float* bias,
               float* y) noexcept {
  set_bias(m, n, bias, y);
  parallel_for(n, std::max<int64_t>(1, kGrain / std::max<int64_t>(k, 1)), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(dot_range_of)(m, n, k, x, b, y, first, last);
  });
}

}  // namespace assay::kernels
#endif
