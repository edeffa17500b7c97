// FeatureVectorizer: the inputs, [N, C] each or [C] for one row, joined. An input is cut, or padded
// with zeros, to its entry of `inputdimensions`.
#include <algorithm>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/ml/features.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_ml_FeatureVectorizer {
namespace {

/// The width of each input in the output, or nothing where the node does not say.
std::vector<int64_t> read_widths(const OpContext& c) {
  const std::vector<int64_t> widths = c.attr_ints("inputdimensions");
  c.check(widths.empty() || widths.size() == c.input_count(), "inputdimensions has {} entries for {} inputs",
          widths.size(), c.input_count());
  for (const int64_t w : widths) c.check(w >= 0, "inputdimensions has the entry {}", w);
  return widths;
}

void infer(InferContext& c) {
  const std::vector<int64_t> widths = read_widths(c);
  Dim rows, total(0);
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims* d = c.input_dims(i);
    c.check(d == nullptr || d->size() == 1 || d->size() == 2,
            "input {} has rank {}; it must be [N, C] or [C]", i, d ? d->size() : 0);
    total = dim_add(total, !widths.empty() ? Dim(widths[i]) : d != nullptr ? d->back() : Dim());
    if (d == nullptr) continue;
    const Dim n = d->size() == 1 ? Dim(1) : (*d)[0];
    c.check(!rows.is_known() || !n.is_known() || rows.value() == n.value(), "the inputs have {} and {} rows",
            rows.value(), n.value());
    if (!rows.is_known()) rows = n;
  }
  c.set_output(0, DType::kFloat32, {rows, total});
}

void eval(EvalContext& c) {
  std::vector<int64_t> widths = read_widths(c);
  int64_t rows = -1, total = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Shape& s = c.shape(i);
    c.check(s.rank() == 1 || s.rank() == 2, "input {} has rank {}; it must be [N, C] or [C]", i, s.rank());
    const int64_t n = s.rank() == 1 ? 1 : s[0];
    c.check(rows < 0 || n == rows, "the inputs have {} and {} rows", rows, n);
    rows = n;
    if (widths.size() == i) widths.push_back(s.back());
    c.check(!__builtin_add_overflow(total, widths[i], &total), "the widths add up to more than an int64");
  }
  check_output_size(DType::kFloat64, {rows, total});
  Tensor y = Tensor::zeros(DType::kFloat64, {rows, total});
  double* out = y.mutable_data<double>();
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Tensor x = number_input(c, i);
    const int64_t width = x.shape().back(), used = std::min(width, widths[i]);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(x.data<double>() + r * width, used, out + r * total);
    out += widths[i];
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1 ...
out Y: float
attr inputdimensions: ints
type T1: int32 int64 float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "FeatureVectorizer",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
};

}  // namespace assay::op_ml_FeatureVectorizer
