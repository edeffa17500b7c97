#include "templates/moments.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"

namespace assay {
namespace {

/// A normal distribution as the binomial distribution of 64 throws: mean 0, variance 1, points a quarter
/// apart.
constexpr int kThrows = 64;
constexpr int kPoints = kThrows + 1;

double point(int i) { return 0.25 * (i - kThrows / 2); }

const std::array<double, kPoints>& point_weights() {
  static const std::array<double, kPoints> weights = [] {
    std::array<double, kPoints> w{};
    w[0] = 0x1p-64;
    for (int i = 0; i + 1 < kPoints; ++i) w[i + 1] = w[i] * (kThrows - i) / (i + 1);
    return w;
  }();
  return weights;
}

/// Mean and variance of f at the points mean + deviation * point(i), each with probability weights[i].
void integrate(const std::array<double, kPoints>& weights, double (*f)(double), float& mean,
               float& variance) {
  const auto deviation = static_cast<float>(std::sqrt(static_cast<double>(variance)));
  std::array<float, kPoints> y;
  double sum = 0;
  for (int i = 0; i < kPoints; ++i) {
    y[i] = static_cast<float>(f(mean + deviation * point(i)));
    sum += double{static_cast<float>(weights[i])} * y[i];
  }
  mean = static_cast<float>(sum);
  double squares = 0;
  for (int i = 0; i < kPoints; ++i) {
    const float d = y[i] - mean;
    const float square = d * d;
    squares += double{static_cast<float>(weights[i])} * square;
  }
  variance = static_cast<float>(squares);
}

float at(const Tensor& bias, int64_t i) { return bias.defined() ? bias.data<float>()[i] : 0.0F; }

/// exp(x) for |x| <= 40: (1 + y + y^2/2)^1024 with y = x/1024.
double exponential(double x) {
  const auto y = static_cast<float>(x * 0x1p-10);
  double p = 1.0 + y + 0.5 * (double{y} * y);
  for (int i = 0; i < 10; ++i) p *= p;
  return p;
}

}  // namespace

ChannelMoments ChannelMoments::uniform_unit(int64_t channels) {
  const auto n = static_cast<size_t>(channels);
  return {std::vector<float>(n, 0.5F), std::vector<float>(n, static_cast<float>(1.0 / 12))};
}

std::vector<float> Window::tap_shares(int64_t extent) const {
  const int64_t outputs = output_extent(extent);
  std::vector<float> shares;
  for (int64_t k = 0; k < kernel; ++k) {
    int64_t inside = 0;
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t i = o * stride - pad + k * dilation;
      inside += i >= 0 && i < extent ? 1 : 0;
    }
    shares.push_back(static_cast<float>(static_cast<double>(inside) / static_cast<double>(outputs)));
  }
  return shares;
}

ChannelMoments conv_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias,
                            const Window& window, int64_t groups, int64_t height, int64_t width) {
  return conv_moments(x, weights, bias, window, window, groups, height, width);
}

ChannelMoments conv_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias,
                            const Window& rows, const Window& columns, int64_t groups, int64_t height,
                            int64_t width) {
  if (x.empty()) return {};
  const int64_t outputs = weights.dim(0), per_group = weights.dim(1), taps = rows.kernel * columns.kernel;
  std::vector<float> shares;
  for (const float row : rows.tap_shares(height))
    for (const float column : columns.tap_shares(width)) shares.push_back(row * column);
  ChannelMoments y{std::vector<float>(static_cast<size_t>(outputs)),
                   std::vector<float>(static_cast<size_t>(outputs))};
  parallel_for(outputs, 8, [&](int64_t first, int64_t last) {
    for (int64_t m = first; m < last; ++m) {
      const float* w = weights.data<float>() + m * per_group * taps;
      const int64_t c0 = m / (outputs / groups) * per_group;
      double mean = at(bias, m), variance = 0;
      for (int64_t c = 0; c < per_group; ++c, w += taps) {
        // A tap that falls on padding with probability 1 - share adds w^2 share (1 - share) mean^2 to the
        // variance.
        double sum = 0, squares = 0, border = 0;
        for (int64_t k = 0; k < taps; ++k) {
          const float shared = w[k] * shares[static_cast<size_t>(k)];
          const float lost = shared * (1.0F - shares[static_cast<size_t>(k)]);
          sum += shared;
          squares += double{shared} * w[k];
          border += double{lost} * w[k];
        }
        const float mu = x.mean[static_cast<size_t>(c0 + c)];
        const float mu_squared = mu * mu;
        mean += double{static_cast<float>(sum)} * mu;
        variance += double{static_cast<float>(squares)} * x.variance[static_cast<size_t>(c0 + c)];
        variance += double{static_cast<float>(border)} * mu_squared;
      }
      y.mean[static_cast<size_t>(m)] = static_cast<float>(mean);
      y.variance[static_cast<size_t>(m)] = static_cast<float>(variance);
    }
  });
  return y;
}

ChannelMoments conv_transpose_moments(const ChannelMoments& x, const Tensor& weights, const Tensor& bias) {
  if (x.empty()) return {};
  const int64_t inputs = weights.dim(0), outputs = weights.dim(1), taps = weights.dim(2) * weights.dim(3);
  ChannelMoments y{std::vector<float>(static_cast<size_t>(outputs)),
                   std::vector<float>(static_cast<size_t>(outputs))};
  for (int64_t m = 0; m < outputs; ++m) {
    // Each output position sees one tap of every input channel; over positions all taps occur equally often.
    double total = 0, squares = 0, variance = 0;
    for (int64_t k = 0; k < taps; ++k) {
      double mean = at(bias, m);
      for (int64_t c = 0; c < inputs; ++c) {
        const float w = weights.data<float>()[(c * outputs + m) * taps + k];
        const float w_squared = w * w;
        mean += double{w} * x.mean[static_cast<size_t>(c)];
        variance += double{w_squared} * x.variance[static_cast<size_t>(c)];
      }
      total += mean;
      squares += double{static_cast<float>(mean)} * static_cast<float>(mean);
    }
    const auto mean = static_cast<float>(total / static_cast<double>(taps));
    const double spread = squares / static_cast<double>(taps) - double{mean} * mean;
    y.mean[static_cast<size_t>(m)] = mean;
    y.variance[static_cast<size_t>(m)] =
        static_cast<float>(variance / static_cast<double>(taps) + std::max(spread, 0.0));
  }
  return y;
}

ChannelMoments activation_moments(const ChannelMoments& x, double (*f)(double)) {
  ChannelMoments y = x;
  for (size_t c = 0; c < y.mean.size(); ++c) integrate(point_weights(), f, y.mean[c], y.variance[c]);
  return y;
}

ChannelMoments max_moments(const ChannelMoments& x, int n, double (*f)(double)) {
  std::array<double, kPoints> weights;
  double below = 0, power_below = 0;
  for (int i = 0; i < kPoints; ++i) {
    below += point_weights()[i];
    double power = 1;
    for (int k = 0; k < n; ++k) power *= below;
    weights[i] = power - power_below;
    power_below = power;
  }
  ChannelMoments y = x;
  for (size_t c = 0; c < y.mean.size(); ++c) integrate(weights, f, y.mean[c], y.variance[c]);
  return y;
}

ChannelMoments average_moments(const ChannelMoments& x, double n) {
  ChannelMoments y = x;
  for (float& v : y.variance) v = static_cast<float>(v / std::sqrt(n));
  return y;
}

ChannelMoments gated_moments(const ChannelMoments& x, const ChannelMoments& gate) {
  ChannelMoments y = x;
  for (size_t c = 0; c < y.mean.size(); ++c) {
    y.mean[c] *= gate.mean[c];
    y.variance[c] *= gate.mean[c] * gate.mean[c];
  }
  return y;
}

ChannelMoments sum_moments(const ChannelMoments& a, const ChannelMoments& b) {
  ChannelMoments y = a;
  for (size_t c = 0; c < y.mean.size(); ++c) {
    y.mean[c] += b.mean[c];
    y.variance[c] += b.variance[c];
  }
  return y;
}

ChannelMoments concat_moments(const std::vector<const ChannelMoments*>& parts) {
  ChannelMoments y;
  for (const ChannelMoments* p : parts) {
    y.mean.insert(y.mean.end(), p->mean.begin(), p->mean.end());
    y.variance.insert(y.variance.end(), p->variance.begin(), p->variance.end());
  }
  return y;
}

double identity(double x) { return x; }
double relu(double x) { return std::max(x, 0.0); }
double relu6(double x) { return std::clamp(x, 0.0, 6.0); }
double logistic_function(double x) { return 1.0 / (1.0 + exponential(-std::clamp(x, -40.0, 40.0))); }
double silu(double x) { return x * logistic_function(x); }
double hard_sigmoid(double x) { return relu6(x + 3.0) / 6.0; }
double hard_swish(double x) { return x * hard_sigmoid(x); }
double leaky_relu(double x) { return std::max(x, 0.0078125 * x); }
double gelu_function(double x) { return x * logistic_function(1.702 * x); }
double tanh_function(double x) { return 2.0 * logistic_function(2.0 * x) - 1.0; }

}  // namespace assay
