// Multinomial: for each row of unnormalized log-probabilities, sample_size classes drawn with replacement.
#include <algorithm>
#include <cmath>

#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/random_source.h"

namespace assay::op_onnx_Multinomial {
namespace {

int64_t sample_size(const OpContext& c) {
  const int64_t samples = c.attr_int("sample_size");
  c.check(samples > 0, "sample_size is {}", samples);
  return samples;
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  c.check(in == nullptr || in->size() == 2, "the input must have rank 2, it has rank {}",
          in ? in->size() : 0);
  c.set_output(0, random_dtype(c, DType::kInt32), {in ? (*in)[0] : Dim(), Dim(sample_size(c))});
}

/// Running sums of the classes' weights, the largest logit scaled to 1.
std::vector<double> cumulated(const double* logits, int64_t classes) {
  const double largest = *std::max_element(logits, logits + classes);
  std::vector<double> sums;
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sums.push_back(sum += std::exp(logits[k] - largest));
  return sums;
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  c.check(in.size() == 2 && in[1] > 0, "the input must be a matrix with a class, it has shape {}", in.str());
  const int64_t samples = sample_size(c);
  Tensor y = checked_allocation(DType::kFloat64, {in[0], samples});
  double* to = y.mutable_data<double>();
  RandomState random = random_source(c);
  for (int64_t row = 0; row < in[0]; ++row) {
    const std::vector<double> sums = cumulated(c.input(0).data<double>() + row * in[1], in[1]);
    c.check(std::isfinite(sums.back()), "row {} of the input holds NaN or infinity", row);
    for (int64_t i = 0; i < samples; ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), random.next_double() * sums.back());
      to[row * samples + i] =
          static_cast<double>(std::min(at - sums.begin(), static_cast<std::ptrdiff_t>(in[1] - 1)));
    }
  }
  set_random_output(c, std::move(y), random_dtype(c, DType::kInt32));
}

constexpr OpVersion kVersions[] = {
    {7, R"(
in  input: T1
out output: T2
attr dtype: int = 6
attr seed: float
attr sample_size: int = 1
type T1: @float
type T2: int32 int64)",
     infer, eval},
    {22, R"(
in  input: T1
out output: T2
attr dtype: int = 6
attr seed: float
attr sample_size: int = 1
type T1: @float_ir4
type T2: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "", .name = "Multinomial", .versions = kVersions, .random = true};

}  // namespace assay::op_onnx_Multinomial
