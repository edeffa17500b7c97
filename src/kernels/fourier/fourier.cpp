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

/// x[i] * (re, im) of all lines into y[i].
HWY_INLINE void multiply(const double* x, double re, double im, double* y) {
  const D f;
  const VD r = constant(re), w = constant(im);
  for (int64_t i = 0; i < kLines; i += static_cast<int64_t>(hn::Lanes(f))) {
    const VD xr = hn::LoadU(f, x + i), xi = hn::LoadU(f, x + kLines + i);
    hn::StoreU(hn::NegMulAdd(xi, w, hn::Mul(xr, r)), f, y + i);
    hn::StoreU(hn::MulAdd(xr, w, hn::Mul(xi, r)), f, y + kLines + i);
  }
}

/// The sign of the imaginary parts of all lines changes.
HWY_INLINE void conjugate(double* x) {
  const D f;
  for (int64_t i = kLines; i < kElement; i += static_cast<int64_t>(hn::Lanes(f)))
    hn::StoreU(hn::Neg(hn::LoadU(f, x + i)), f, x + i);
}

double* transform_powers(const ChirpTables& t, double* x, double* y);

/// A step whose radix is a large prime. `scratch` has room for two lines of the padded length.
void step_by_chirp(const ChirpTables& t, int64_t n, int64_t stride, const double* roots, const double* x,
                   double* y, double* scratch) {
  const int64_t m = n / t.radix;
  double* const first = scratch;
  double* const second = scratch + t.padded * kElement;
  for (int64_t p = 0; p < m; ++p)
    for (int64_t q = 0; q < stride; ++q) {
      for (int64_t k = 0; k < t.radix; ++k)
        multiply(x + (q + stride * (p + k * m)) * kElement, t.chirp[static_cast<size_t>(2 * k)],
                 t.chirp[static_cast<size_t>(2 * k + 1)], first + k * kElement);
      std::fill(first + t.radix * kElement, first + t.padded * kElement, 0.0);
      double* const folded = transform_powers(t, first, second);
      for (int64_t k = 0; k < t.padded; ++k) {
        multiply(folded + k * kElement, t.spectrum[static_cast<size_t>(2 * k)],
                 t.spectrum[static_cast<size_t>(2 * k + 1)], folded + k * kElement);
        conjugate(folded + k * kElement);  // the transform back is that of the conjugate
      }
      double* const back = transform_powers(t, folded, folded == first ? second : first);
      for (int64_t j = 0; j < t.radix; ++j) {
        double* const from = back + j * kElement;
        double* const to = y + (q + stride * (t.radix * p + j)) * kElement;
        conjugate(from);
        multiply(from, t.chirp[static_cast<size_t>(2 * j)], t.chirp[static_cast<size_t>(2 * j + 1)], from);
        const int64_t angle = j * p * stride;
        multiply(from, roots[2 * angle], roots[2 * angle + 1], to);
      }
    }
}

}  // namespace fourier

/// Transforms kLines lines; returns where the result lies, in one of the two.
double* transform_lines(std::span<const int64_t> factors, std::span<const ChirpTables> chirps,
                        const double* roots, int64_t length, bool inverse, double* x, double* y,
                        double* scratch) {
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
      default: {
        const auto chirp = std::find_if(chirps.begin(), chirps.end(),
                                        [&](const ChirpTables& t) { return t.radix == radix; });
        if (chirp != chirps.end())
          fourier::step_by_chirp(*chirp, n, stride, roots, x, y, scratch);
        else
          fourier::step_by(radix, n, stride, roots, x, y);
        break;
      }
    }
    std::swap(x, y);
    n /= radix;
    stride *= radix;
  }
  return x;
}

double* fourier::transform_powers(const ChirpTables& t, double* x, double* y) {
  return transform_lines(t.factors, {}, t.roots.data(), t.padded, false, x, y, nullptr);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(transform_lines);

namespace {

constexpr int64_t kFourierLines = ASSAY_FOURIER_LINES, kFourierElement = 2 * kFourierLines;

/// Larger prime factors are convolutions.
constexpr int64_t kLargestRadix = 128;

std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

/// exp(step * k * i) for k < count, real and imaginary parts in turns.
std::vector<double> circle(int64_t count, double step) {
  std::vector<double> roots(static_cast<size_t>(2 * count));
  for (int64_t k = 0; k < count; ++k) {
    roots[static_cast<size_t>(2 * k)] = std::cos(step * static_cast<double>(k));
    roots[static_cast<size_t>(2 * k + 1)] = std::sin(step * static_cast<double>(k));
  }
  return roots;
}

ChirpTables chirp_tables(int64_t n, bool inverse) {
  ChirpTables t{.radix = n, .padded = 1};
  while (t.padded < 2 * n - 1) t.padded *= 2;
  t.factors = factors_of(t.padded);
  t.roots = circle(t.padded, -2 * M_PI / static_cast<double>(t.padded));
  t.chirp.resize(static_cast<size_t>(2 * n));
  // k^2 modulo 2n, kept exactly: the angle itself would have lost its digits.
  for (int64_t k = 0, square = 0; k < n; ++k) {
    const double angle = (inverse ? M_PI : -M_PI) * static_cast<double>(square) / static_cast<double>(n);
    t.chirp[static_cast<size_t>(2 * k)] = std::cos(angle);
    t.chirp[static_cast<size_t>(2 * k + 1)] = std::sin(angle);
    square = (square + 2 * k + 1) % (2 * n);
  }
  // One line of eight is used.
  std::vector<double> line(static_cast<size_t>(2 * t.padded * kFourierElement));
  for (int64_t k = 0; k < n; ++k)
    for (const int64_t at : {k, (t.padded - k) % t.padded}) {
      line[static_cast<size_t>(at * kFourierElement)] = t.chirp[static_cast<size_t>(2 * k)];
      line[static_cast<size_t>(at * kFourierElement + kFourierLines)] =
          -t.chirp[static_cast<size_t>(2 * k + 1)];
    }
  const double* const made =
      HWY_DYNAMIC_DISPATCH(transform_lines)(t.factors, {}, t.roots.data(), t.padded, false, line.data(),
                                            line.data() + t.padded * kFourierElement, nullptr);
  t.spectrum.resize(static_cast<size_t>(2 * t.padded));
  for (int64_t k = 0; k < t.padded; ++k) {
    t.spectrum[static_cast<size_t>(2 * k)] = made[k * kFourierElement] / static_cast<double>(t.padded);
    t.spectrum[static_cast<size_t>(2 * k + 1)] =
        made[k * kFourierElement + kFourierLines] / static_cast<double>(t.padded);
  }
  return t;
}

/// What is not finite in a line: where a factor goes through a convolution, it would make NaN of all.
struct StrayNumber {
  int64_t place;
  double re, im;
};

std::vector<StrayNumber> take_strays(int64_t length, double* column) {
  std::vector<StrayNumber> strays;
  for (int64_t k = 0; k < length; ++k) {
    double &re = column[k * kFourierElement], &im = column[k * kFourierElement + kFourierLines];
    if (std::isfinite(re) && std::isfinite(im)) continue;
    strays.push_back({k, re, im});
    re = im = 0;
  }
  return strays;
}

void add_strays(std::span<const StrayNumber> strays, int64_t length, const double* roots, double* column) {
  for (int64_t k = 0; k < length && !strays.empty(); ++k) {
    double &re = column[k * kFourierElement], &im = column[k * kFourierElement + kFourierLines];
    for (const StrayNumber& s : strays) {
      const int64_t angle = s.place * k % length;
      const std::complex<double> part =
          std::complex<double>(s.re, s.im) * std::complex<double>(roots[2 * angle], roots[2 * angle + 1]);
      re += part.real();
      im += part.imag();
      if (std::isnan(re) && std::isnan(im)) break;
    }
  }
}

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

FourierTransform::FourierTransform(const Spectra& spectra)
    : spectra_(spectra),
      factors_(factors_of(spectra.length)),
      roots_(
          circle(spectra.length, (spectra.inverse ? 2 : -2) * M_PI / static_cast<double>(spectra.length))) {
  for (const int64_t f : factors_)
    if (f > kLargestRadix && (chirps_.empty() || chirps_.back().radix != f))
      chirps_.push_back(chirp_tables(f, spectra.inverse));
}

bool FourierTransform::run(const float* x, const float* window, float* y) const noexcept {
  const Spectra& s = spectra_;
  const int64_t groups = (s.lines + kFourierLines - 1) / kFourierLines;
  std::atomic<bool> has_memory = true;
  parallel_for(groups, 1, [&](int64_t first, int64_t last) {
    try {
      const auto size = static_cast<size_t>(s.length * kFourierElement);
      int64_t padded = 0;
      for (const ChirpTables& t : chirps_) padded = std::max(padded, t.padded);
      std::vector<double> buffer(2 * size + static_cast<size_t>(2 * padded * kFourierElement));
      std::vector<std::vector<StrayNumber>> strays(static_cast<size_t>(kFourierLines));
      for (int64_t g = first; g < last; ++g) {
        const int64_t line = g * kFourierLines, count = std::min(kFourierLines, s.lines - line);
        for (int64_t i = 0; i < count; ++i) {
          load_line(s, x + s.in.start(line + i), window, buffer.data() + i);
          if (!chirps_.empty()) strays[static_cast<size_t>(i)] = take_strays(s.length, buffer.data() + i);
        }
        double* const made = HWY_DYNAMIC_DISPATCH(transform_lines)(
            factors_, chirps_, roots_.data(), s.length, s.inverse, buffer.data(), buffer.data() + size,
            buffer.data() + 2 * size);
        for (int64_t i = 0; i < count; ++i) {
          add_strays(strays[static_cast<size_t>(i)], s.length, roots_.data(), made + i);
          store_line(s, made + i, y + s.out.start(line + i));
        }
      }
    } catch (const std::bad_alloc&) {
      has_memory.store(false, std::memory_order_relaxed);
    }
  });
  return has_memory.load();
}

}  // namespace assay::kernels
#endif
