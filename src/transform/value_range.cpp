#include "transform/value_range.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/averages.h"
#include "analysis/match.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

/// More nodes than any activation function has between a value and what it is a function of.
constexpr int kMaxDepth = 32;

/// The results of a function for some numbers of its argument.
class Samples {
 public:
  Samples(const Model& model, const Value& source, Tensor numbers)
      : model_(model), known_{{&source, std::move(numbers)}} {}

  /// Not defined where an operand is none of those that a function of one value has.
  Tensor of(const Value& v, int depth = 0) {
    if (const auto it = known_.find(&v); it != known_.end()) return it->second;
    if (const UnalignedTensor* number = constant_of(&v)) return number->aligned();
    const Node* n = v.producer();
    if (n == nullptr || depth == kMaxDepth) return {};
    std::vector<Tensor> inputs;
    for (const Value* x : n->inputs()) {
      inputs.push_back(x == nullptr ? Tensor() : of(*x, depth + 1));
      if (x != nullptr && !inputs.back().defined()) return {};
    }
    const BoundOp op = bind_op(*n, model_);
    if (!op) return {};
    return known_[&v] = evaluate_node(*n, op, std::move(inputs)).at(0);
  }

 private:
  const Model& model_;
  std::unordered_map<const Value*, Tensor> known_;
};

NumberRange product(const NumberRange& a, const NumberRange& b) {
  const double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  // Zero times infinity: the other end decides.
  NumberRange r{.low = 0, .high = 0};
  for (const double e : ends) {
    r.low = std::min(r.low, std::isnan(e) ? 0 : e);
    r.high = std::max(r.high, std::isnan(e) ? 0 : e);
  }
  return r;
}

NumberRange both(const NumberRange& a, const NumberRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace

Quantization quantization_within(float scale, double low) {
  constexpr double kLargest = 127;
  // Of a limit: where numbers go as far below zero, the two halves of symmetric values are used.
  constexpr double kFarBelow = 0.5;
  constexpr int kMiddle = 128;
  const double limit = kLargest * scale, least = std::max(low, -limit);
  if (least < -kFarBelow * limit) return {scale, kMiddle, DType::kUInt8};
  const double zero = std::round(255 * -least / (limit - least)),
               step = std::max(limit / (255 - zero), zero == 0 ? 0 : -least / zero);
  return {static_cast<float>(step), static_cast<int>(zero), DType::kUInt8};
}

NumberRange ValueRanges::of(const Value& v) {
  if (const auto it = known_.find(&v); it != known_.end()) return it->second;
  known_[&v] = {};  // for a graph that is deeper than its operands are
  return known_[&v] = compute(v);
}

NumberRange ValueRanges::compute(const Value& v) {
  const Node* n = v.producer();
  if (n == nullptr) return {};
  if (const Value* source = sources_.of(&v); source != &v) return of_function(v, *source);
  if (KeptValues::is_gate(*n)) return product(of(*n->input(0)), of(*n->input(1)));
  if (averages_pixels(*n, model_) || interpolates_pixels(*n) || KeptValues::is_move(*n, model_)) {
    const size_t operands = is_op(*n, "Concat") ? n->inputs().size() : 1;
    NumberRange all{.low = 0, .high = 0};
    for (size_t i = 0; i < operands; ++i)
      if (n->input(i) != nullptr) all = both(all, of(*n->input(i)));
    return all;
  }
  if (is_op(*n, "Add") && n->inputs().size() == 2 && constant_of(n->input(0)) == nullptr &&
      constant_of(n->input(1)) == nullptr) {
    const NumberRange a = of(*n->input(0)), b = of(*n->input(1));
    return {a.low + b.low, a.high + b.high};
  }
  return {};
}

NumberRange ValueRanges::of_function(const Value& v, const Value& source) const {
  constexpr int64_t kSteps = 1024;
  Tensor numbers = Tensor::allocate(DType::kFloat32, Shape{2 * kSteps + 1});
  for (int64_t i = -kSteps; i <= kSteps; ++i)
    numbers.mutable_data<float>()[i + kSteps] =
        static_cast<float>(kFarthest * static_cast<double>(i) / static_cast<double>(kSteps));
  const Tensor y = Samples(model_, source, std::move(numbers)).of(v);
  if (!y.defined() || y.dtype() != DType::kFloat32) return {};
  NumberRange r{.low = 0, .high = 0};
  const std::span<const float> results = y.span<float>();
  for (const float x : results) {
    if (!std::isfinite(x)) return {};
    r.low = std::min(r.low, double{x}), r.high = std::max(r.high, double{x});
  }
  // Where it still falls or rises at an end of the argument, it has no bound there.
  const auto grows = [&](size_t end, size_t before) {
    return std::abs(results[end] - results[before]) > 1e-3;
  };
  const size_t last = results.size() - 1;
  for (const auto& [end, before] : {std::pair<size_t, size_t>{0, 16}, {last, last - 16}}) {
    if (!grows(end, before)) continue;
    if (results[end] < results[before]) r.low = -std::numeric_limits<double>::infinity();
    if (results[end] > results[before]) r.high = std::numeric_limits<double>::infinity();
  }
  return r;
}

}  // namespace assay
