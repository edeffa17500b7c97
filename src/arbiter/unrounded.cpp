#include "arbiter/unrounded.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "arbiter/float_range.h"
#include "graph/read.h"
#include "ops/numerics/noise.h"
#include "reference/quantisation_scale.h"

namespace assay {
namespace {

constexpr std::string_view kKeepers[] = {"Abs",           "CenterCropPad",
                                         "Clip",          "Compress",
                                         "Concat",        "DepthToSpace",
                                         "Expand",        "Flatten",
                                         "Gather",        "GatherND",
                                         "Identity",      "GatherElements",
                                         "GlobalMaxPool", "Max",
                                         "MaxPool",       "Min",
                                         "Neg",           "Pad",
                                         "ReduceMax",     "ReduceMin",
                                         "Relu",          "Reshape",
                                         "Slice",         "Split",
                                         "Squeeze",       "ReverseSequence",
                                         "SpaceToDepth",  "Tile",
                                         "Transpose",     "TopK",
                                         "Trilu",         "Unsqueeze",
                                         "Where"};

}  // namespace

bool keeps_numbers(const Node& n) {
  return std::ranges::any_of(kKeepers, [&](std::string_view op) { return is_op(n, op); });
}

HalfUnit::HalfUnit(const SuspectNode& suspect, const Value* input, bool zeros) : zeros_(zeros) {
  if (input == nullptr || input->producer() == nullptr || is_op(*input->producer(), "Constant")) return;
  const DType type = suspect.own(*input).dtype();
  if (!is_float(type) || unit_roundoff(type) <= unit_roundoff(DType::kFloat32)) return;
  u_ = unit_roundoff(type);
  smallest_ = float_range(type).smallest / 2;
  if (gives_whole_numbers(*input->producer())) whole_ = 1 / u_;
}

double HalfUnit::operator()(double x) const {
  return (x == 0 && !zeros_) || std::abs(x) <= whole_ ? 0 : std::max(u_ * std::abs(x), smallest_);
}

std::vector<Tensor> evaluated_before_rounding(const Trial& trial, const SuspectNode& suspect, int count) {
  const std::vector<Tensor>& inputs = trial.inputs();
  std::vector<HalfUnit> halves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool wide = inputs[i].defined() && inputs[i].dtype() == DType::kFloat64;
    halves.emplace_back(suspect, wide ? suspect.node.input(i) : nullptr, false);
  }
  if (std::ranges::none_of(halves, &HalfUnit::any)) return {};
  std::vector<Tensor> results;
  for (int k = 0; k < count; ++k) {
    std::vector<Tensor> moved = inputs;
    for (size_t i = 0; i < moved.size(); ++i) {
      if (!halves[i].any()) continue;
      moved[i] = map_elements<double>(inputs[i], [](double x) { return x; });
      const uint64_t key = mix_key(static_cast<uint64_t>(k), i);
      auto* x = moved[i].mutable_data<double>();
      for (int64_t at = 0; at < moved[i].numel(); ++at)
        if (std::isfinite(x[at])) x[at] += noise(key, static_cast<uint64_t>(at)) * halves[i](x[at]);
    }
    results.push_back(trial.evaluate(std::move(moved)));
    if (!results.back().defined() || results.back().dtype() != DType::kFloat64) return {};
  }
  return results;
}

}  // namespace assay
