#include "ops/contrib/rotary.h"

#include <cmath>

#include "ops/eval_util.h"

namespace assay {
namespace {

void check(const Shape& x, const RotaryTables& t, const std::vector<int64_t>& positions) {
  const Shape& table = t.cosines.shape();
  require(table.size() == 2 && table == t.sines.shape() && 2 * table[1] <= x[3], ErrorCode::kInvalidModel,
          "tables of cosines of shape {} and sines of shape {} do not turn heads of {} elements", table.str(),
          t.sines.shape().str(), x[3]);
  require(static_cast<int64_t>(positions.size()) == x[0] * x[2], ErrorCode::kInternal,
          "{} positions are given for {} sequences of {}", positions.size(), x[0], x[2]);
  for (const int64_t p : positions)
    require(p >= 0 && p < table[0], ErrorCode::kInvalidModel, "position {} is outside the {} of the tables",
            p, table[0]);
}

/// With `magnitudes`, what the magnitudes add up to.
Tensor turned(const Tensor& x, const RotaryTables& t, const std::vector<int64_t>& positions,
              bool magnitudes) {
  const Shape& s = x.shape();
  const int64_t pairs = t.cosines.dim(1), step = t.interleaved ? 2 : 1, apart = t.interleaved ? 1 : pairs;
  Tensor y = map_elements<double>(x, [=](double v) { return magnitudes ? std::fabs(v) : v; });
  double* py = y.mutable_data<double>();
  for (int64_t row = 0; row < s[0] * s[1] * s[2]; ++row) {
    const int64_t place = row / (s[1] * s[2]) * s[2] + row % s[2];
    const int64_t at = positions[static_cast<size_t>(place)] * pairs;
    double* head = py + row * s[3];
    for (int64_t i = 0; i < pairs; ++i) {
      double &a = head[i * step], &b = head[i * step + apart];
      const double c = t.cosines.data<double>()[at + i], d = t.sines.data<double>()[at + i], x0 = a, x1 = b;
      a = magnitudes ? std::fabs(c) * x0 + std::fabs(d) * x1 : c * x0 - d * x1;
      b = magnitudes ? std::fabs(d) * x0 + std::fabs(c) * x1 : d * x0 + c * x1;
    }
  }
  return y;
}

}  // namespace

Traced rotate(Steps& steps, const Traced& x, const RotaryTables& tables,
              const std::vector<int64_t>& positions) {
  check(x.value.shape(), tables, positions);
  return steps.accumulated(
      turned(x.value, tables, positions, false), [&] { return turned(x.value, tables, positions, true); }, 1,
      [&] { return turned(x.error, tables, positions, true); });
}

}  // namespace assay
