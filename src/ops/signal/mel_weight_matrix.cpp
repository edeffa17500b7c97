// MelWeightMatrix: triangles over the bins of a one-sided spectrum, evenly spaced on the mel scale 2595
// log10(1 + f / 700).
#include <cmath>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/signal/scalars.h"
#include "tensor/convert.h"

namespace assay::op_onnx_MelWeightMatrix {
namespace {

void infer(InferContext& c) {
  c.set_output(0, read_output_datatype(c),
               {dim_add(dim_floor_div(scalar_extent(c, 1), Dim(2)), Dim(1)), scalar_extent(c, 0)});
}

double mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

/// The spectrum bin of each triangle's corner: bands + 2 of them.
std::vector<int64_t> corner_bins(const EvalContext& c, int64_t bands, int64_t length, int64_t rate) {
  const double low = mel(float_scalar(c, 3, "lower_edge_hertz")),
               high = mel(float_scalar(c, 4, "upper_edge_hertz"));
  const int64_t bins = length / 2 + 1;
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double frequency =
        hertz(low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2));
    const double bin = std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate));
    c.check(bin >= 0 && bin < static_cast<double>(bins), "{} Hz is outside the {} bins of the spectrum",
            frequency, bins);
    corners.push_back(static_cast<int64_t>(bin));
  }
  return corners;
}

void eval(EvalContext& c) {
  const int64_t bands = integer_scalar(c, 0, "num_mel_bins"), length = integer_scalar(c, 1, "dft_length");
  const int64_t rate = integer_scalar(c, 2, "sample_rate");
  c.check(bands >= 1 && length >= 1 && rate >= 1,
          "num_mel_bins {}, dft_length {} and sample_rate {} must be at least 1", bands, length, rate);
  Tensor y = Tensor::zeros(DType::kFloat64, {length / 2 + 1, bands});
  double* py = y.mutable_data<double>();
  const std::vector<int64_t> corners = corner_bins(c, bands, length, rate);
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t left = corners[static_cast<size_t>(i)], peak = corners[static_cast<size_t>(i) + 1];
    const int64_t right = corners[static_cast<size_t>(i) + 2];
    for (int64_t j = left; j < peak; ++j)
      py[j * bands + i] = static_cast<double>(j - left) / static_cast<double>(peak - left);
    py[peak * bands + i] = 1;
    for (int64_t j = peak + 1; j < right; ++j)
      py[j * bands + i] = static_cast<double>(right - j) / static_cast<double>(right - peak);
  }
  const DType to = read_output_datatype(c);
  c.set_output(0, is_float(to) ? y : convert(y, to));
}

constexpr OpVersion kVersions[] = {
    {17, R"(
in  num_mel_bins: T1
in  dft_length: T1
in  sample_rate: T1
in  lower_edge_hertz: T2
in  upper_edge_hertz: T2
out output: T3
attr output_datatype: int = 1
type T1: int32 int64
type T2: @float_ir4
type T3: @numeric_ir4)",
     infer, eval},
};

}  // namespace

/// The weights are quotients of integers; a corner that rounding moves to the next bin is not covered.
constinit const OpDef def = {
    .domain = "",
    .name = "MelWeightMatrix",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
};

}  // namespace assay::op_onnx_MelWeightMatrix
