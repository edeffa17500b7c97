// The p-norm that LpPool and GlobalLpPool take.
#pragma once

#include <cmath>

#include "ops/op_context.h"

namespace assay {

/// (sum of |x|^p)^(1/p) with the attribute p of a node, a float in opset 1.
class LpNorm {
 public:
  /// Throws Error unless p is at least 1.
  explicit LpNorm(const OpContext& c)
      : p_(c.since() < 2 ? c.attr_float("p") : static_cast<double>(c.attr_int("p"))) {
    c.check(p_ >= 1, "attribute 'p' is {}; it must be at least 1", p_);
  }
  double term(double x) const {
    if (p_ == 1) return std::fabs(x);
    if (p_ == 2) return x * x;
    return std::pow(std::fabs(x), p_);
  }
  double root(double sum) const {
    if (p_ == 1) return sum;
    if (p_ == 2) return std::sqrt(sum);
    return std::pow(sum, 1 / p_);
  }
  double p() const { return p_; }

 private:
  double p_;
};

}  // namespace assay
