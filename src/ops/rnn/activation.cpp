#include "ops/rnn/activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include "ops/numerics/rounding.h"

namespace assay {
namespace {

using Kind = Activation::Kind;

/// A function's entry in the specification; a default of 1 or 0 where it names no operator.
struct Known {
  std::string_view name;
  Kind kind;
  bool takes_alpha, takes_beta;
  double alpha, beta;
};

constexpr Known kKnown[] = {
    {"affine", Kind::kAffine, true, true, 1, 0},
    {"elu", Kind::kElu, true, false, 1, 0},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2F, 0.5},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01F, 0},
    {"relu", Kind::kRelu, false, false, 0, 0},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1, 1},
    {"sigmoid", Kind::kSigmoid, false, false, 0, 0},
    {"softplus", Kind::kSoftplus, false, false, 0, 0},
    {"softsign", Kind::kSoftsign, false, false, 0, 0},
    {"tanh", Kind::kTanh, false, false, 0, 0},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1, 0},
};

const Known& find_known(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* it =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == lower; });
  require(it != std::end(kKnown), ErrorCode::kInvalidModel,
          "'{}' is not an activation function of recurrent operators", name);
  return *it;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Besides the relative error, that of 1 - 2 / (exp(2 x) + 1), which does not vanish where tanh is small.
double tanh_error(double y, double ulps) { return ulps * std::fabs(y) + 1; }

}  // namespace

double Activation::operator()(double x) const {
  switch (kind) {
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::kHardSigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::kRelu:
      return x < 0 ? 0 : x;
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kSigmoid:
      return sigmoid(x);
    case Kind::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    case Kind::kSoftsign:
      return x / (1 + std::fabs(x));
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kThresholdedRelu:
      return x >= alpha ? x : 0;
  }
  return x;
}

double Activation::change(double x, double reach) const {
  if (reach == 0) return 0;
  // All are monotonous on either side of their corner, if they have one. A step is taken at and just below
  // it.
  const double corner = kind == Kind::kThresholdedRelu ? alpha : 0;
  const double below = std::nextafter(corner, -std::numeric_limits<double>::infinity());
  const double low = x - reach, high = x + reach, y = (*this)(x);
  double most = 0;
  for (const double p : {low, high, std::clamp(corner, low, high), std::clamp(below, low, high)}) {
    const double moved = std::fabs((*this)(p)-y);
    most = std::isnan(moved) ? std::numeric_limits<double>::infinity() : std::max(most, moved);
  }
  return most;
}

double Activation::largest_error(double y) const {
  const double size = std::fabs(y);
  switch (kind) {
    case Kind::kAffine:
      return 2 * size + std::fabs(beta);
    case Kind::kElu:
      return alpha >= 0 && y >= 0 ? 0 : kLibraryUlps * (size + std::fabs(alpha));
    case Kind::kHardSigmoid:
      return 2 * size + std::fabs(beta);
    case Kind::kLeakyRelu:
      return size;
    case Kind::kRelu:
    case Kind::kThresholdedRelu:
      return 0;
    case Kind::kScaledTanh:
      return tanh_error(1, kInverseUlps) * std::fabs(alpha) + size;
    case Kind::kSigmoid:
      return sigmoid_error(y);
    case Kind::kTanh:
      return tanh_error(y, kInverseUlps);
    case Kind::kSoftplus:
      return softplus_error(size);
    case Kind::kSoftsign:
      return 3 * size;
  }
  return 0;
}

double Activation::expected_error(double y) const {
  switch (kind) {
    case Kind::kSigmoid:
      return 1 + y;
    case Kind::kTanh:
      return tanh_error(y, 2);
    case Kind::kScaledTanh:
      return tanh_error(1, 2) * std::fabs(alpha) + std::fabs(y);
    default:
      return largest_error(y) / 2;
  }
}

const std::vector<std::string>& usual_functions(kernels::RecurrentKind kind) {
  using kernels::RecurrentKind;
  static const std::vector<std::string> kRnn = {"Tanh"}, kGru = {"Sigmoid", "Tanh"},
                                        kLstm = {"Sigmoid", "Tanh", "Tanh"};
  return kind == RecurrentKind::kRnn ? kRnn : kind == RecurrentKind::kGru ? kGru : kLstm;
}

std::vector<Activation> read_activations(const OpContext& c, size_t directions,
                                         const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  if (c.has_attr("activations")) {
    names = c.attr_strings("activations");
  } else {
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  c.check(names.size() == directions * defaults.size(),
          "attribute 'activations' has {} functions where {} are needed", names.size(),
          directions * defaults.size());
  const std::vector<double> alphas = c.attr_floats("activation_alpha"),
                            betas = c.attr_floats("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    const Known& known = find_known(name);
    Activation a{.kind = known.kind, .alpha = known.alpha, .beta = known.beta};
    if (known.takes_alpha && alpha < alphas.size()) a.alpha = alphas[alpha++];
    if (known.takes_beta && beta < betas.size()) a.beta = betas[beta++];
    out.push_back(a);
  }
  return out;
}

}  // namespace assay
