// Normalizer: every row of [N, C], or [C], divided by its largest element (MAX), the sum of its magnitudes
// (L1) or its Euclidean length (L2); a row whose divisor is zero stays. (The specification writes L1 and L2
// without regard to signs; ONNX's reference implementation and ONNX Runtime keep them, as here.)
#include <algorithm>
#include <cmath>

#include "ops/ml/features.h"
#include "ops/ml/score_rows.h"
#include "ops/op_list.h"

namespace assay::op_ml_Normalizer {
namespace {

enum class Norm : uint8_t { kMax, kL1, kL2 };

Norm read_norm(const OpContext& c) {
  const std::string& name = c.attr_string("norm");
  if (name == "MAX") return Norm::kMax;
  if (name == "L1") return Norm::kL1;
  c.check(name == "L2", "attribute 'norm' is '{}'; it must be MAX, L1 or L2", name);
  return Norm::kL2;
}

void infer(InferContext& c) {
  read_norm(c);
  infer_rows(c);
  c.set_output(0, DType::kFloat32);
  if (c.input_dims(0) != nullptr) c.set_output(0, DType::kFloat32, *c.input_dims(0));
}

template <typename N>
N divisor(Norm norm, std::span<const double> row) {
  using std::sqrt;
  if (norm == Norm::kMax) return row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  N sum = 0;
  for (const double v : row) sum += norm == Norm::kL1 ? N(std::fabs(v)) : N(v) * N(v);
  return norm == Norm::kL1 ? sum : N(sqrt(sum));
}

template <typename N>
ScoreRows<N> normalize(const EvalContext& c) {
  const Norm norm = read_norm(c);
  const Features x(c);
  ScoreRows<N> rows = score_rows<N>(x, x.count, x.count, [&](const double* row, std::span<N> out) {
    const N d = divisor<N>(norm, {row, out.size()});
    for (size_t i = 0; i < out.size(); ++i) out[i] = value_of(d) == 0 ? N(row[i]) : N(row[i]) / d;
    return size_t{0};
  });
  rows.shape = c.shape(0);
  return rows;
}

void eval(EvalContext& c) { c.set_output(0, score_tensor(normalize<double>(c))); }
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  return score_errors(normalize<Rounded>(c), u);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr norm: string = "MAX"
type T: float double int64 int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "Normalizer",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_Normalizer
