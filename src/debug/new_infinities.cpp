#include "debug/new_infinities.h"

#include <cmath>
#include <vector>

#include "ops/node_facts.h"
#include "tensor/numbers.h"

namespace assay::debug {
namespace {

enum class Sign : int8_t { kFinite, kPositive, kNegative };

std::vector<Sign> infinities_of(const Tensor& t) {
  std::vector<Sign> signs(static_cast<size_t>(t.numel()), Sign::kFinite);
  if (!is_float(t.dtype())) return signs;
  const TensorNumbers numbers(t);
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t count, int64_t first) {
      for (int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(p[i]);
        if (std::isinf(x)) signs[static_cast<size_t>(first + i)] = x > 0 ? Sign::kPositive : Sign::kNegative;
      }
      return true;
    });
  });
  return signs;
}

/// An operand as it is broadcast to the result.
struct Operand {
  std::vector<Sign> signs;
  std::vector<int64_t> steps;  ///< by axis of the result
  int64_t at = 0;

  Operand(const Tensor& t, const Shape& shape) : signs(infinities_of(t)), steps(shape.rank(), 0) {
    int64_t step = 1;
    for (size_t i = t.rank(), axis = shape.rank(); i-- > 0;) {
      --axis;
      steps[axis] = t.dim(i) == 1 ? 0 : step;
      step *= t.dim(i);
    }
  }
  bool is_infinite() const { return signs[static_cast<size_t>(at)] != Sign::kFinite; }
};

/// The next place of the result, last axis first.
void step(std::vector<int64_t>& index, const Shape& shape, std::vector<Operand>& operands) {
  for (size_t axis = shape.rank(); axis-- > 0;) {
    ++index[axis];
    for (Operand& o : operands) o.at += o.steps[axis];
    if (index[axis] < shape[axis]) return;
    for (Operand& o : operands) o.at -= o.steps[axis] * shape[axis];
    index[axis] = 0;
  }
}

}  // namespace

NonFiniteCount new_infinities(const Node& n, const Model& model, std::span<const Tensor> inputs,
                              const Tensor& output) {
  NonFiniteCount count{.elements = output.numel()};
  if (facts_of(n, model).elementwise < inputs.size() || !is_float(output.dtype())) return count;
  std::vector<Operand> operands;
  for (const Tensor& t : inputs) {
    if (!t.defined()) continue;
    if (t.is_container() || t.rank() > output.rank() || t.numel() == 0) return count;
    operands.emplace_back(t, output.shape());
  }
  const std::vector<Sign> signs = infinities_of(output);
  std::vector<int64_t> index(output.rank(), 0);
  for (size_t i = 0; i < signs.size(); ++i, step(index, output.shape(), operands)) {
    if (signs[i] == Sign::kFinite) continue;
    bool is_given = false;
    for (const Operand& o : operands) is_given = is_given || o.is_infinite();
    if (is_given) continue;
    ++count.infinite;
    auto& place = count.first[signs[i] == Sign::kPositive ? 1 : 2];
    if (!place) place = static_cast<int64_t>(i);
  }
  return count;
}

}  // namespace assay::debug
