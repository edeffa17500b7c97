#include "reference/stacked_lanes.h"

#include <algorithm>

#include "ops/eval_util.h"

namespace assay {
namespace {

/// The differences of lanes from 1 on to lane 0, concatenated along the first axis.
Tensor differences(std::span<const Tensor> lanes) {
  Shape shape = lanes[0].shape();
  shape[0] *= static_cast<int64_t>(lanes.size()) - 1;
  Tensor stacked = Tensor::allocate(DType::kFloat64, shape);
  const int64_t count = lanes[0].numel();
  const double* exact = lanes[0].data<double>();
  auto* out = stacked.mutable_data<double>();
  for (size_t k = 1; k < lanes.size(); ++k, out += count) {
    const double* lane = lanes[k].data<double>();
    parallel_for(count, kElementGrain, [&](int64_t first, int64_t last) {
#pragma omp simd
      for (int64_t i = first; i < last; ++i) out[i] = lane[i] - exact[i];
    });
  }
  return stacked;
}

/// Of a function of the elements of its only input.
std::vector<Tensor> element_lanes(const Numerics& numerics, std::span<const Tensor> lanes, const Tensor& y) {
  std::vector<Tensor> result;
  for (const Tensor& lane : lanes.subspan(1))
    result.push_back(lane.shares_storage(lanes[0]) ? y : numerics.beside(lanes[0], y, lane));
  return result;
}

}  // namespace

std::vector<Tensor> stacked_lanes(const Node& n, BoundOp op, std::span<const Tensor> inputs,
                                  std::span<const Tensor> lanes, const Tensor& y) {
  const Numerics& numerics = op.op->numerics;
  if (numerics.rough == nullptr && numerics.beside == nullptr) return {};
  const bool are_floats = std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) {
    return t.defined() && t.dtype() == DType::kFloat64 && t.shape() == lanes[0].shape();
  });
  if (!are_floats) return {};
  if (numerics.beside != nullptr) return element_lanes(numerics, lanes, y);
  if (lanes.size() < 3 || inputs.size() < 2 || lanes[0].shape().empty() || lanes[0].numel() == 0 ||
      y.shape().empty())
    return {};
  // Addends are in lane 0.
  std::vector<Tensor> operands(inputs.size());
  operands[0] = lanes[0], operands[1] = inputs[1];
  if (!numerics.stacks(EvalContext(n, *op.op, *op.version, operands))) return {};
  operands[0] = differences(lanes);
  EvalContext c(n, *op.op, *op.version, std::move(operands));
  if (!numerics.rough(c, kernels::ApproxOf::kValues)) return {};
  const Tensor moved = std::move(c.outputs()[0]);
  const auto count = static_cast<int64_t>(lanes.size()) - 1;
  if (moved.numel() != count * y.numel()) return {};
  std::vector<Tensor> result;
  const double* exact = y.data<double>();
  for (int64_t k = 0; k < count; ++k) {
    const double* by = moved.data<double>() + k * y.numel();
    Tensor& lane = result.emplace_back(Tensor::allocate(DType::kFloat64, y.shape()));
    auto* out = lane.mutable_data<double>();
    parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
#pragma omp simd
      for (int64_t i = first; i < last; ++i) out[i] = exact[i] + by[i];
    });
  }
  return result;
}

}  // namespace assay
