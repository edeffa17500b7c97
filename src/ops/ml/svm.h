// Kernels of support vector machines.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/numerics/running_error.h"
#include "ops/op_context.h"

namespace assay {

/// The attributes `kernel_type` and `kernel_params` (gamma, coef0, degree; zeros where left out).
class SvmKernel {
 public:
  /// Throws Error for an unknown kernel or another number of parameters.
  explicit SvmKernel(const OpContext& c);
  /// The scalar product, whatever the attributes say.
  static SvmKernel linear() { return {}; }

  /// K(a, b) of two vectors of n features; N is double or Rounded.
  template <typename N>
  N operator()(const double* a, const double* b, int64_t n) const;

 private:
  enum class Type : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

  SvmKernel() = default;

  Type type_ = Type::kLinear;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

/// Support vectors, one row each, and the kernel that compares features with them.
struct SupportVectors {
  /// Divides the attribute `support_vectors` into `count` rows. Throws Error when it cannot.
  SupportVectors(const OpContext& c, int64_t count);

  int64_t count, features;
  std::vector<double> vectors;
  SvmKernel kernel;

  const double* row(int64_t i) const { return vectors.data() + i * features; }
};

}  // namespace assay
