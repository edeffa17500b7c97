// MeanVarianceNormalization: (x - mean) / (deviation + 1e-9), with mean and deviation over the given axes.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/normalize.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_MeanVarianceNormalization {
namespace {

/// The number that the specification adds to the deviation.
constexpr double kEpsilon = 1e-9;

void infer(InferContext& c) {
  if (c.input_rank(0) >= 0) normalize_axes(c.attr_ints("axes"), static_cast<size_t>(c.input_rank(0)));
  infer_same_as_input(c);
}

/// The elements that share a mean, as offsets from the first of them, and where these groups begin.
struct Groups {
  std::vector<int64_t> offsets, begins;
};

std::vector<int64_t> all_offsets(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides) {
  std::vector<int64_t> out(static_cast<size_t>(Shape(extents).numel()));
  OffsetCursor cursor(extents, strides);
  for (int64_t& offset : out) {
    offset = cursor.offset();
    cursor.next();
  }
  return out;
}

Groups make_groups(const EvalContext& c) {
  const Shape& in = c.shape(0);
  const std::vector<int64_t> strides = in.strides();
  std::vector<bool> reduced(in.size(), false);
  for (const size_t axis : normalize_axes(c.attr_ints("axes"), in.size())) reduced[axis] = true;
  std::vector<int64_t> extents[2], steps[2];
  for (size_t d = 0; d < in.size(); ++d) {
    extents[reduced[d] ? 1 : 0].push_back(in[d]);
    steps[reduced[d] ? 1 : 0].push_back(strides[d]);
  }
  return {.offsets = all_offsets(extents[1], steps[1]), .begins = all_offsets(extents[0], steps[0])};
}

void compute(EvalContext& c, Normalized what) {
  const Groups groups = make_groups(c);
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  if (y.numel() > 0) {
    parallel_for(static_cast<int64_t>(groups.begins.size()), 1, [&](int64_t first, int64_t last) {
      std::vector<double> x(groups.offsets.size());
      for (int64_t g = first; g < last; ++g) {
        const int64_t begin = groups.begins[static_cast<size_t>(g)];
        for (size_t i = 0; i < x.size(); ++i) x[i] = px[begin + groups.offsets[i]];
        const Moments m = moments(x.data(), static_cast<int64_t>(x.size()));
        const double inverse = 1.0 / (std::sqrt(m.variance) + kEpsilon);
        for (size_t i = 0; i < x.size(); ++i)
          py[begin + groups.offsets[i]] = what == Normalized::kValues ? (x[i] - m.mean) * inverse
                                          : what == Normalized::kMagnitudes
                                              ? normalized_magnitude(x[i], m, inverse)
                                              : normalized_drift(x[i], m, inverse);
      }
    });
  }
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) { compute(c, Normalized::kValues); }
void magnitude(EvalContext& c) { compute(c, Normalized::kMagnitudes); }
void drift(EvalContext& c) { compute(c, Normalized::kDrifts); }
int64_t terms(EvalContext& c) { return static_cast<int64_t>(make_groups(c).offsets.size()) + 10; }

constexpr OpVersion kVersions[] = {
    {9, R"(
in  X: T
out Y: T
attr axes: ints = [0, 2, 3]
type T: @float)",
     infer, eval},
    {13, R"(
in  X: T
out Y: T
attr axes: ints = [0, 2, 3]
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MeanVarianceNormalization",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating,
                 .terms = terms,
                 .magnitude = magnitude,
                 .drift = drift},
    .facts =
        {
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_MeanVarianceNormalization
