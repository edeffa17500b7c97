#include "ops/ml/linear.h"

namespace assay {

LinearModel::LinearModel(const OpContext& c, int64_t row_count)
    : rows(row_count), coefficients(c.attr_floats("coefficients")), intercepts(c.attr_floats("intercepts")) {
  c.check(rows > 0 && rows <= static_cast<int64_t>(coefficients.size()),
          "{} coefficients cannot be divided among {} rows", coefficients.size(), rows);
  c.check(intercepts.empty() || static_cast<int64_t>(intercepts.size()) == rows,
          "{} intercepts for {} rows of coefficients", intercepts.size(), rows);
}

void LinearModel::take_features(const OpContext& c, int64_t count) {
  c.check(count <= static_cast<int64_t>(coefficients.size()) / rows,
          "the input has {} features, but there are only {} coefficients for {} row(s)", count,
          coefficients.size(), rows);
  features = count;
}

}  // namespace assay
