#include "ops/ml/svm.h"

namespace assay {
namespace {

using std::exp;
using std::pow;
using std::tanh;

template <typename N>
N product(const double* a, const double* b, int64_t n) {
  N sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += N(a[i]) * N(b[i]);
  return sum;
}

template <typename N>
N squared_distance(const double* a, const double* b, int64_t n) {
  N sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const N d = N(a[i]) - N(b[i]);
    sum += d * d;
  }
  return sum;
}

}  // namespace

SvmKernel::SvmKernel(const OpContext& c) {
  const std::string& name = c.attr_string("kernel_type");
  if (name == "POLY")
    type_ = Type::kPoly;
  else if (name == "RBF")
    type_ = Type::kRbf;
  else if (name == "SIGMOID")
    type_ = Type::kSigmoid;
  else
    c.check(name == "LINEAR", "attribute 'kernel_type' is '{}'; it must be LINEAR, POLY, RBF or SIGMOID",
            name);
  const std::vector<double> parameters = c.attr_floats("kernel_params");
  if (parameters.empty()) return;
  c.check(parameters.size() == 3, "attribute 'kernel_params' has {} numbers; it must have 3",
          parameters.size());
  gamma_ = parameters[0];
  coef0_ = parameters[1];
  degree_ = parameters[2];
}

template <typename N>
N SvmKernel::operator()(const double* a, const double* b, int64_t n) const {
  if (type_ == Type::kRbf) return exp(N(-gamma_) * squared_distance<N>(a, b, n));
  const N dot = product<N>(a, b, n);
  if (type_ == Type::kLinear) return dot;
  const N s = N(gamma_) * dot + N(coef0_);
  return type_ == Type::kPoly ? N(pow(s, degree_)) : N(tanh(s));
}
template double SvmKernel::operator()(const double*, const double*, int64_t) const;
template Rounded SvmKernel::operator()(const double*, const double*, int64_t) const;

SupportVectors::SupportVectors(const OpContext& c, int64_t n)
    : count(n), vectors(c.attr_floats("support_vectors")), kernel(c) {
  const auto size = static_cast<int64_t>(vectors.size());
  c.check(count > 0 && size > 0 && size % count == 0, "{} numbers cannot be divided among {} support vectors",
          size, count);
  features = size / count;
}

}  // namespace assay
