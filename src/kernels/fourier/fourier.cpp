#include "kernels/fourier/fourier.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fourier/fourier.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

/// Lines that are transformed side by side: element k of all of them lies together, real parts before
/// imaginary ones.
#ifndef ASSAY_FOURIER_LINES
#define ASSAY_FOURIER_LINES 8
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace fourier {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using VD = hn::Vec<D>;
HWY_INLINE VD constant(double x) { return hn::Set(D(), x); }

constexpr int64_t kLines = ASSAY_FOURIER_LINES, kElement = 2 * kLines;

/// re, im [kRadix] become their transform; `sign` 1: forward, -1: inverse.
template <int kRadix>
HWY_INLINE void transform_few(VD* re, VD* im, double sign) {
  if constexpr (kRadix == 2) {
    const VD r = re[1], i = im[1];
    re[1] = hn::Sub(re[0], r);
    im[1] = hn::Sub(im[0], i);
    re[0] = hn::Add(re[0], r);
    im[0] = hn::Add(im[0], i);
  } else if constexpr (kRadix == 3) {
    const VD k = constant(sign * 0.86602540378443865), half = constant(0.5);
    const VD tr = hn::Add(re[1], re[2]), ti = hn::Add(im[1], im[2]);
    const VD dr = hn::Mul(k, hn::Sub(re[1], re[2])), di = hn::Mul(k, hn::Sub(im[1], im[2]));
    const VD mr = hn::NegMulAdd(half, tr, re[0]), mi = hn::NegMulAdd(half, ti, im[0]);
    re[0] = hn::Add(re[0], tr);
    im[0] = hn::Add(im[0], ti);
    re[1] = hn::Add(mr, di);
    im[1] = hn::Sub(mi, dr);
    re[2] = hn::Sub(mr, di);
    im[2] = hn::Add(mi, dr);
  } else if constexpr (kRadix == 4) {
    const VD s = constant(sign);
    const VD ar = hn::Add(re[0], re[2]), ai = hn::Add(im[0], im[2]), br = hn::Sub(re[0], re[2]),
             bi = hn::Sub(im[0], im[2]), cr = hn::Add(re[1], re[3]), ci = hn::Add(im[1], im[3]),
             dr = hn::Mul(s, hn::Sub(re[1], re[3])), di = hn::Mul(s, hn::Sub(im[1], im[3]));
    re[0] = hn::Add(ar, cr);
    im[0] = hn::Add(ai, ci);
    re[1] = hn::Add(br, di);
    im[1] = hn::Sub(bi, dr);
    re[2] = hn::Sub(ar, cr);
    im[2] = hn::Sub(ai, ci);
    re[3] = hn::Sub(br, di);
    im[3] = hn::Add(bi, dr);
  } else {
    static_assert(kRadix == 5);
    const VD c1 = constant(0.30901699437494742), c2 = constant(-0.80901699437494742),
             s1 = constant(sign * 0.95105651629515357), s2 = constant(sign * 0.58778525229247313);
    const VD ar = hn::Add(re[1], re[4]), ai = hn::Add(im[1], im[4]), br = hn::Add(re[2], re[3]),
             bi = hn::Add(im[2], im[3]), dr = hn::Sub(re[1], re[4]), di = hn::Sub(im[1], im[4]),
             er = hn::Sub(re[2], re[3]), ei = hn::Sub(im[2], im[3]);
    const VD mr = hn::MulAdd(c2, br, hn::MulAdd(c1, ar, re[0])),
             mi = hn::MulAdd(c2, bi, hn::MulAdd(c1, ai, im[0])),
             nr = hn::MulAdd(c1, br, hn::MulAdd(c2, ar, re[0])),
             ni = hn::MulAdd(c1, bi, hn::MulAdd(c2, ai, im[0]));
    const VD ur = hn::MulAdd(s1, dr, hn::Mul(s2, er)), ui = hn::MulAdd(s1, di, hn::Mul(s2, ei)),
             vr = hn::NegMulAdd(s1, er, hn::Mul(s2, dr)), vi = hn::NegMulAdd(s1, ei, hn::Mul(s2, di));
    re[0] = hn::Add(re[0], hn::Add(ar, br));
    im[0] = hn::Add(im[0], hn::Add(ai, bi));
    re[1] = hn::Add(mr, ui);
    im[1] = hn::Sub(mi, ur);
    re[4] = hn::Sub(mr, ui);
    im[4] = hn::Add(mi, ur);
    re[2] = hn::Add(nr, vi);
    im[2] = hn::Sub(ni, vr);
    re[3] = hn::Sub(nr, vi);
    im[3] = hn::Add(ni, vr);
  }
}

/// One step of a transform of `n` elements of which each stands for `stride` of them: Stockham's, which
/// leaves the order right. `roots` are those of n * stride.
template <int kRadix>
void step(int64_t n, int64_t stride, const double* roots, double sign, const double* x, double* y) {
  const D f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t m = n / kRadix;
  for (int64_t p = 0; p < m; ++p) {
    double wr[kRadix], wi[kRadix];
    for (int j = 0; j < kRadix; ++j) {
      wr[j] = roots[2 * j * p * stride];
      wi[j] = roots[2 * j * p * stride + 1];
    }
    for (int64_t q = 0; q < stride; ++q) {
      const double* const from = x + (q + stride * p) * kElement;
      double* const to = y + (q + stride * kRadix * p) * kElement;
      for (int64_t i = 0; i < kLines; i += lanes) {
        VD re[kRadix], im[kRadix];
        ASSAY_UNROLL
        for (int k = 0; k < kRadix; ++k) {
          re[k] = hn::LoadU(f, from + k * stride * m * kElement + i);
          im[k] = hn::LoadU(f, from + k * stride * m * kElement + kLines + i);
        }
        transform_few<kRadix>(re, im, sign);
        ASSAY_UNROLL
        for (int j = 0; j < kRadix; ++j) {
          const VD r = constant(wr[j]), w = constant(wi[j]);
          hn::StoreU(hn::NegMulAdd(im[j], w, hn::Mul(re[j], r)), f, to + j * stride * kElement + i);
          hn::StoreU(hn::MulAdd(re[j], w, hn::Mul(im[j], r)), f, to + j * stride * kElement + kLines + i);
        }
      }
    }
  }
}

/// The same for any radix, in radix^2 operations.
void step_by(int64_t radix, int64_t n, int64_t stride, const double* roots, const double* x, double* y) {
  const D f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const int64_t m = n / radix, whole = n * stride;
  for (int64_t p = 0; p < m; ++p)
    for (int64_t q = 0; q < stride; ++q)
      for (int64_t j = 0; j < radix; ++j)
        for (int64_t i = 0; i < kLines; i += lanes) {
          VD re = hn::Zero(f), im = hn::Zero(f);
          // w_radix^(j k) w_n^(j p), the angle counted in parts of the whole.
          int64_t angle = j * p * stride;
          for (int64_t k = 0; k < radix; ++k) {
            const double* const from = x + (q + stride * (p + k * m)) * kElement + i;
            const VD r = constant(roots[2 * angle]), w = constant(roots[2 * angle + 1]);
            const VD xr = hn::LoadU(f, from), xi = hn::LoadU(f, from + kLines);
            re = hn::Add(re, hn::NegMulAdd(xi, w, hn::Mul(xr, r)));
            im = hn::Add(im, hn::MulAdd(xr, w, hn::Mul(xi, r)));
            angle += j * (whole / radix);
            angle -= angle >= whole ? angle / whole * whole : 0;
          }
          double* const to = y + (q + stride * (radix * p + j)) * kElement + i;
          hn::StoreU(re, f, to);
          hn::StoreU(im, f, to + kLines);
        }
}

}  // namespace fourier

/// Transforms kLines lines; returns where the result lies, in one of the two.
double* transform_lines(std::span<const int64_t> factors, const double* roots, int64_t length, bool inverse,
                        double* x, double* y) {
  const double sign = inverse ? -1.0 : 1.0;
  int64_t n = length, stride = 1;
  for (const int64_t radix : factors) {
    switch (radix) {
      case 2:
        fourier::step<2>(n, stride, roots, sign, x, y);
        break;
      case 3:
        fourier::step<3>(n, stride, roots, sign, x, y);
        break;
      case 4:
        fourier::step<4>(n, stride, roots, sign, x, y);
        break;
      case 5:
        fourier::step<5>(n, stride, roots, sign, x, y);
        break;
      default:
        fourier::step_by(radix, n, stride, roots, x, y);
        break;
    }
    std::swap(x, y);
    n /= radix;
    stride *= radix;
  }
  return x;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(transform_lines);

namespace {

constexpr int64_t kFourierLines = ASSAY_FOURIER_LINES, kFourierElement = 2 * kFourierLines;

/// Column `column` of the buffer takes a line: cut or filled up, windowed, half a spectrum completed.
void load_line(const Spectra& s, const float* from, const float* window, double* column) {
  const int64_t count = std::min(s.given, s.half ? s.length / 2 + 1 : s.length);
  for (int64_t k = 0; k < count; ++k, from += s.in.step) {
    const double w = window != nullptr ? window[k] : 1.0;
    column[k * kFourierElement] = window != nullptr ? from[0] * w : from[0];
    const double imaginary = s.parts == 2 ? from[1] : 0.0;
    column[k * kFourierElement + kFourierLines] =
        window != nullptr && s.parts == 2 ? imaginary * w : imaginary;
  }
  for (int64_t k = count; k < s.length; ++k)
    column[k * kFourierElement] = column[k * kFourierElement + kFourierLines] = 0;
  if (!s.half) return;
  column[kFourierLines] = 0;
  if (s.length % 2 == 0) column[s.length / 2 * kFourierElement + kFourierLines] = 0;
  for (int64_t k = s.length / 2 + 1; k < s.length; ++k) {
    column[k * kFourierElement] = column[(s.length - k) * kFourierElement];
    column[k * kFourierElement + kFourierLines] = -column[(s.length - k) * kFourierElement + kFourierLines];
  }
}

void store_line(const Spectra& s, const double* column, float* to) {
  const double scale = s.inverse ? 1 / static_cast<double>(s.length) : 1.0;
  for (int64_t k = 0; k < s.bins; ++k, to += s.out.step) {
    to[0] = static_cast<float>(column[k * kFourierElement] * scale);
    if (s.out_parts == 2) to[1] = static_cast<float>(column[k * kFourierElement + kFourierLines] * scale);
  }
}

}  // namespace

FourierTransform::FourierTransform(const Spectra& spectra) : spectra_(spectra) {
  const int64_t n = spectra.length;
  int64_t rest = n;
  for (; rest % 4 == 0; rest /= 4) factors_.push_back(4);
  for (int64_t p = 2; p * p <= rest; ++p)
    for (; rest % p == 0; rest /= p) factors_.push_back(p);
  if (rest > 1) factors_.push_back(rest);
  roots_.resize(static_cast<size_t>(2 * n));
  const double step = (spectra.inverse ? 2 : -2) * M_PI / static_cast<double>(n);
  for (int64_t k = 0; k < n; ++k) {
    roots_[static_cast<size_t>(2 * k)] = std::cos(step * static_cast<double>(k));
    roots_[static_cast<size_t>(2 * k + 1)] = std::sin(step * static_cast<double>(k));
  }
}

bool FourierTransform::run(const float* x, const float* window, float* y) const noexcept {
  const Spectra& s = spectra_;
  const int64_t groups = (s.lines + kFourierLines - 1) / kFourierLines;
  std::atomic<bool> has_memory = true;
  parallel_for(groups, 1, [&](int64_t first, int64_t last) {
    try {
      const auto size = static_cast<size_t>(s.length * kFourierElement);
      std::vector<double> buffer(2 * size);
      for (int64_t g = first; g < last; ++g) {
        const int64_t line = g * kFourierLines, count = std::min(kFourierLines, s.lines - line);
        for (int64_t i = 0; i < count; ++i) load_line(s, x + s.in.start(line + i), window, buffer.data() + i);
        const double* const made = HWY_DYNAMIC_DISPATCH(transform_lines)(
            factors_, roots_.data(), s.length, s.inverse, buffer.data(), buffer.data() + size);
        for (int64_t i = 0; i < count; ++i) store_line(s, made + i, y + s.out.start(line + i));
      }
    } catch (const std::bad_alloc&) {
      has_memory.store(false, std::memory_order_relaxed);
    }
  });
  return has_memory.load();
}

}  // namespace assay::kernels
#endif
