#include "ops/work.h"

#include <algorithm>
#include <optional>

#include "ops/multiply_accumulates.h"
#include "ops/op_set.h"

namespace assay {
namespace {

/// A number of steps that saturates instead of overflowing.
struct StepCount {
  int64_t n;
  friend StepCount operator+(StepCount a, StepCount b) {
    return {a.n > INT64_MAX - b.n ? INT64_MAX : a.n + b.n};
  }
  friend StepCount operator*(StepCount a, StepCount b) {
    int64_t product = 0;
    return {__builtin_mul_overflow(a.n, b.n, &product) ? INT64_MAX : product};
  }
};

const Dims* known_dims(const Value* v) {
  return v != nullptr && v->type.is_tensor() && v->type.dims ? &*v->type.dims : nullptr;
}

/// 0 when there is no such axis or its extent is not known. From the end if negative.
StepCount steps_along(const Value* v, int axis) {
  const Dims* dims = known_dims(v);
  if (dims == nullptr) return {0};
  const int rank = static_cast<int>(dims->size()), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return {0};
  const Dim& d = (*dims)[static_cast<size_t>(at)];
  return {d.is_known() ? std::max<int64_t>(d.value(), 0) : 0};
}

/// 0 when not all extents are known.
StepCount steps_of_elements(const Value* v) {
  const Dims* dims = known_dims(v);
  if (dims == nullptr) return {0};
  StepCount all{1};
  for (size_t d = 0; d < dims->size(); ++d) all = all * steps_along(v, static_cast<int>(d));
  return all;
}

int64_t integer(const Node& n, std::string_view name) {
  const Attribute* a = n.find_attribute(name);
  const auto* i = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return i != nullptr ? std::max<int64_t>(*i, 0) : 0;
}

}  // namespace

int64_t window_steps(const Node& n) {
  const Attribute* a = n.find_attribute("kernel_shape");
  const auto* extents = a != nullptr ? a->get_if<std::vector<int64_t>>() : nullptr;
  if (extents == nullptr) return 0;
  StepCount all = steps_of_elements(n.output(0));
  for (const int64_t e : *extents) all = all * StepCount{std::max<int64_t>(e, 0)};
  return all.n;
}

int64_t neighbour_steps(const Node& n) {
  return (steps_of_elements(n.output(0)) * StepCount{integer(n, "size")}).n;
}

int64_t sample_steps(const Node& n) {
  const StepCount ratio{integer(n, "sampling_ratio")};
  return (steps_of_elements(n.output(0)) * ratio * ratio).n;
}

int64_t box_pair_steps(const Node& n) {
  return (steps_along(n.input(1), 0) * steps_along(n.input(1), 1) * steps_along(n.input(1), 2) *
          steps_along(n.input(1), 2))
      .n;
}

int64_t elimination_steps(const Node& n) {
  return (steps_of_elements(n.input(0)) * steps_along(n.input(0), -1)).n;
}

int64_t row_product_steps(const Node& n) {
  return (steps_of_elements(n.output(0)) * steps_along(n.input(0), -1)).n;
}

int64_t fourier_steps(const Node& n) {
  constexpr int64_t kLargestPrime = 256;
  StepCount worst{0};
  for (const Value* v : {static_cast<const Value*>(n.input(0)), static_cast<const Value*>(n.output(0))}) {
    const Dims* dims = known_dims(v);
    for (size_t d = 0; dims != nullptr && d < dims->size(); ++d) {
      int64_t rest = steps_along(v, static_cast<int>(d)).n, primes = 0;
      for (int64_t p = 2; p <= rest / p; ++p)
        for (; rest % p == 0; rest /= p) primes += std::min(p, kLargestPrime);
      primes += std::min(rest, kLargestPrime);
      worst.n = std::max(worst.n, (steps_of_elements(v) * StepCount{primes}).n);
    }
  }
  return worst.n;
}

int64_t work_estimate(const Node& node, const OpDef* op) {
  StepCount all{0};
  for (const Value* v : node.inputs()) all = all + steps_of_elements(v);
  for (const Value* v : node.outputs()) all = all + steps_of_elements(v);
  if (const std::optional<int64_t> macs = multiply_accumulates(node, op).number())
    all = all + StepCount{std::max<int64_t>(*macs, 0)};
  if (op != nullptr && op->facts.extra_steps != nullptr) all = all + StepCount{op->facts.extra_steps(node)};
  return all.n;
}

}  // namespace assay
