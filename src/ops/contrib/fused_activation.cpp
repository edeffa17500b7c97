#include "ops/contrib/fused_activation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "ops/numerics/rounding.h"

namespace assay {
namespace {

struct FusedActivation {
  std::string_view name;
  ActivationParameters defaults;
  double (*f)(double x, const double* p);
  double (*slope)(const double* p);                    ///< the largest
  double (*own)(double x, double y, const double* p);  ///< error of a float library, in units of u
};

/// alpha, beta and gamma.
constexpr size_t kMaxParameters = 3;

double one(const double*) { return 1; }
double none(double, double, const double*) { return 0; }
double alpha_or_one(const double* p) { return std::max(1.0, std::fabs(p[0])); }
double own_exponential(double, double y, const double* p) {
  return y < 0 ? (kLibraryUlps + 2) * (std::fabs(y) + std::fabs(p[0])) : 0;
}

const std::vector<FusedActivation>& activations() {
  static const auto* const kAll = new std::vector<FusedActivation>{
      {"Relu", {}, [](double x, const double*) { return x < 0 ? 0 : x; }, one, none},
      {"Sigmoid",
       {},
       [](double x, const double*) { return 1 / (1 + std::exp(-x)); },
       [](const double*) { return 0.25; },
       [](double, double y, const double*) { return sigmoid_error(y); }},
      {"Tanh",
       {},
       [](double x, const double*) { return std::tanh(x); },
       one,
       [](double, double y, const double*) { return kInverseUlps * std::fabs(y); }},
      {"LeakyRelu",
       {0.01},
       [](double x, const double* p) { return x < 0 ? p[0] * x : x; },
       alpha_or_one,
       [](double x, double y, const double*) { return x < 0 ? 2 * std::fabs(y) : 0; }},
      {"Clip",
       {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()},
       [](double x, const double* p) { return std::isnan(x) ? x : std::min(std::max(x, p[0]), p[1]); },
       one,
       none},
      {"HardSigmoid",
       {0.2, 0.5},
       [](double x, const double* p) { return std::clamp(p[0] * x + p[1], 0.0, 1.0); },
       [](const double* p) { return std::fabs(p[0]); },
       [](double x, double, const double* p) {
         return clamp_error(p[0] * x + p[1], 3 * std::fabs(p[0] * x) + 2 * std::fabs(p[1]));
       }},
      {"Elu",
       {1},
       [](double x, const double* p) { return x < 0 ? p[0] * std::expm1(x) : x; },
       alpha_or_one,
       own_exponential},
      {"Softplus",
       {},
       [](double x, const double*) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
       one,
       [](double, double y, const double*) { return softplus_error(y); }},
      {"Softsign",
       {},
       [](double x, const double*) { return x / (1 + std::fabs(x)); },
       one,
       [](double, double y, const double*) { return 3 * std::fabs(y); }},
      {"ThresholdedRelu",
       {1},
       [](double x, const double* p) { return x > p[0] ? x : 0; },
       [](const double*) { return std::numeric_limits<double>::infinity(); },
       none},
  };
  return *kAll;
}

const FusedActivation& find_activation(const std::string& name) {
  for (const FusedActivation& a : activations())
    if (a.name == name) return a;
  fail(ErrorCode::kInvalidModel, "the activation '{}' is unknown", name);
}

}  // namespace

bool is_activation(std::string_view name) {
  return std::any_of(activations().begin(), activations().end(),
                     [&](const FusedActivation& a) { return a.name == name; });
}

void check_activation(const std::string& name) {
  if (!name.empty()) find_activation(name);
}

Traced activate(Steps& steps, const Traced& x, const std::string& name,
                const ActivationParameters& parameters) {
  if (name.empty()) return x;
  const FusedActivation& a = find_activation(name);
  ActivationParameters p = a.defaults;
  require(parameters.size() <= kMaxParameters, ErrorCode::kInvalidModel,
          "the activation '{}' has {} parameters", name, parameters.size());
  std::copy_n(parameters.begin(), std::min(parameters.size(), p.size()), p.begin());
  if (name == "Clip" && !(p[0] <= p[1]))
    fail(ErrorCode::kInvalidModel, "Clip from {} to {} leaves nothing", p[0], p[1]);
  const double* values = p.data();
  return steps.map(
      x, [&](double v) { return a.f(v, values); }, a.slope(values),
      [&](double v, double y) { return a.own(v, y, values); });
}

}  // namespace assay
