#include "ops/nn/normalize.h"

#include "ops/eval_util.h"

namespace assay {

void MomentSums::add_first(const double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    m_.mean += x[i];
    m_.mean_abs += std::fabs(x[i]);
  }
  count_ += n;
}

void MomentSums::finish_mean() {
  m_.mean /= static_cast<double>(count_);
  m_.mean_abs /= static_cast<double>(count_);
}

void MomentSums::add_second(const double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) m_.variance += (x[i] - m_.mean) * (x[i] - m_.mean);
}

Moments MomentSums::finish() {
  m_.variance /= static_cast<double>(count_);
  return m_;
}

Moments moments(const double* x, int64_t n) {
  MomentSums sums;
  sums.add_first(x, n);
  sums.finish_mean();
  sums.add_second(x, n);
  return sums.finish();
}

NormalizedRows normalize_rows(const Tensor& x, int64_t count, double epsilon, Normalized what) {
  const int64_t rows = count == 0 ? 0 : x.numel() / count;
  NormalizedRows out{.values = Tensor::allocate(DType::kFloat64, x.shape()),
                     .mean = std::vector<double>(static_cast<size_t>(rows)),
                     .inverse = std::vector<double>(static_cast<size_t>(rows))};
  const bool magnitude = what == Normalized::kMagnitudes;
  const double* px = x.data<double>();
  double* py = out.values.mutable_data<double>();
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(count, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r) {
                   const double* from = px + r * count;
                   double* to = py + r * count;
                   const Moments m = moments(from, count);
                   const double inverse = inverse_deviation(m, epsilon);
                   if (what == Normalized::kValues)
                     for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - m.mean) * inverse;
                   else
                     for (int64_t i = 0; i < count; ++i)
                       to[i] = magnitude ? normalized_magnitude(from[i], m, inverse)
                                         : normalized_drift(from[i], m, inverse);
                   out.mean[static_cast<size_t>(r)] = magnitude ? m.mean_abs : m.mean;
                   out.inverse[static_cast<size_t>(r)] = magnitude ? inverse_magnitude(m, inverse) : inverse;
                 }
               });
  return out;
}

void scale_channels(Tensor& x, int64_t channels, int64_t inner, const double* scale, const double* shift,
                    Normalized what) {
  if (x.numel() == 0) return;
  double* p = x.mutable_data<double>();
  parallel_for(x.numel() / inner, std::max<int64_t>(1, kElementGrain / inner),
               [&](int64_t first, int64_t last) {
                 for (int64_t row = first; row < last; ++row) {
                   double a = scale[row % channels], b = shift[row % channels];
                   if (what != Normalized::kValues) {
                     a = std::fabs(a);
                     b = what == Normalized::kDrifts ? 0 : std::fabs(b);
                   }
                   double* to = p + row * inner;
#pragma omp simd
                   for (int64_t i = 0; i < inner; ++i) to[i] = to[i] * a + b;
                 }
               });
}

}  // namespace assay
