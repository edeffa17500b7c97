// Winograd's transforms along one axis, of vectors: F(2, 3) and F(4, 3).
#ifndef ASSAY_KERNELS_WINOGRAD_POINTS_
#define ASSAY_KERNELS_WINOGRAD_POINTS_
#include <cstdint>

namespace assay::kernels {

/// Tiles of 4x4 results are interpolated at 0, +-a, +-b and infinity. The usual points, 1 and 2, magnify
/// rounding errors twice as much: these were found by trying all pairs of eighths for the least magnification
/// of the products' errors, sum of A^T squared times the squared lengths of the rows of B^T and G (B.
/// Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution, ACM TOMS 46(4), 2020,
/// show why points matter). Both and their squares are exact in float32.
inline constexpr double kA = 5.0 / 8, kB = 3.0 / 2, kA2 = kA * kA, kB2 = kB * kB;

/// G of the transform: rows of points, columns of taps.
inline constexpr double kWeights2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
/// Of the points a and -a, whose product with the distances to b and -b is `kNearA`; and of b.
inline constexpr double kNearA = 2 * kA2 * (kA2 - kB2), kNearB = 2 * kB2 * (kB2 - kA2);
inline constexpr double kWeights4[6][3] = {{1 / (kA2 * kB2), 0, 0},
                                           {1 / kNearA, kA / kNearA, kA2 / kNearA},
                                           {1 / kNearA, -kA / kNearA, kA2 / kNearA},
                                           {1 / kNearB, kB / kNearB, kB2 / kNearB},
                                           {1 / kNearB, -kB / kNearB, kB2 / kNearB},
                                           {0, 0, 1}};

/// Weights from transformed ones along an axis: each tap is the difference of two points, or a multiple of
/// one.
struct TapSource {
  int64_t points[2];
  float factors[2];
};
inline constexpr TapSource kTaps2[3] = {{{0, 0}, {1, 0}}, {{1, 2}, {1, -1}}, {{3, 3}, {1, 0}}};
inline constexpr auto kHalfNearA = static_cast<float>(kNearA / (2 * kA));
inline constexpr TapSource kTaps4[3] = {
    {{0, 0}, {static_cast<float>(kA2 * kB2), 0}}, {{1, 2}, {kHalfNearA, -kHalfNearA}}, {{5, 5}, {1, 0}}};

}  // namespace assay::kernels
#endif

#if defined(ASSAY_KERNELS_WINOGRAD_TRANSFORMS_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_WINOGRAD_TRANSFORMS_
#undef ASSAY_KERNELS_WINOGRAD_TRANSFORMS_
#else
#define ASSAY_KERNELS_WINOGRAD_TRANSFORMS_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V times(double a, V x) {
  return hn::Mul(hn::Set(hn::DFromV<V>(), static_cast<float>(a)), x);
}
template <class V>
HWY_INLINE V plus_times(V y, double a, V x) {
  return hn::MulAdd(hn::Set(hn::DFromV<V>(), static_cast<float>(a)), x, y);
}

/// t = B^T d
template <class V>
HWY_INLINE void transform_input(const V (&d)[4], V (&t)[4]) {
  t[0] = hn::Sub(d[0], d[2]);
  t[1] = hn::Add(d[1], d[2]);
  t[2] = hn::Sub(d[2], d[1]);
  t[3] = hn::Sub(d[1], d[3]);
}
template <class V>
HWY_INLINE void transform_input(const V (&d)[6], V (&t)[6]) {
  const V even_a = plus_times(d[4], -kB2, d[2]), odd_a = plus_times(d[3], -kB2, d[1]);
  const V even_b = plus_times(d[4], -kA2, d[2]), odd_b = plus_times(d[3], -kA2, d[1]);
  t[0] = plus_times(plus_times(d[4], -(kA2 + kB2), d[2]), kA2 * kB2, d[0]);
  t[1] = plus_times(even_a, kA, odd_a);
  t[2] = plus_times(even_a, -kA, odd_a);
  t[3] = plus_times(even_b, kB, odd_b);
  t[4] = plus_times(even_b, -kB, odd_b);
  t[5] = plus_times(plus_times(d[5], -(kA2 + kB2), d[3]), kA2 * kB2, d[1]);
}

/// y = A^T s
template <class V>
HWY_INLINE void transform_output(const V (&s)[4], V (&y)[2]) {
  y[0] = hn::Add(s[0], hn::Add(s[1], s[2]));
  y[1] = hn::Sub(hn::Sub(s[1], s[2]), s[3]);
}
template <class V>
HWY_INLINE void transform_output(const V (&s)[6], V (&y)[4]) {
  const V even_a = hn::Add(s[1], s[2]), odd_a = hn::Sub(s[1], s[2]);
  const V even_b = hn::Add(s[3], s[4]), odd_b = hn::Sub(s[3], s[4]);
  y[0] = hn::Add(s[0], hn::Add(even_a, even_b));
  y[1] = plus_times(times(kB, odd_b), kA, odd_a);
  y[2] = plus_times(times(kB2, even_b), kA2, even_a);
  y[3] = plus_times(plus_times(s[5], kB2 * kB, odd_b), kA2 * kA, odd_a);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif
