#include "ops/ml/linear.h"

namespace assay {

LinearModel::LinearModel(const OpContext& c, int64_t row_count)
    : rows(row_count), coefficients(c.attr_floats("coefficients")), intercepts(c.attr_floats("intercepts")) {
  const auto size = static_cast<int64_t>(coefficients.size());
  c.check(rows > 0 && size > 0 && size % rows == 0, "{} coefficients cannot be divided among {} rows", size,
          rows);
  features = size / rows;
  if (intercepts.empty()) intercepts.resize(static_cast<size_t>(rows));
  c.check(static_cast<int64_t>(intercepts.size()) == rows, "{} intercepts for {} rows of coefficients",
          intercepts.size(), rows);
}

void LinearModel::check_features(const EvalContext& c, const Features& x) const {
  c.check(x.count == features, "the input has {} features, the model has coefficients for {}", x.count,
          features);
}

}  // namespace assay
