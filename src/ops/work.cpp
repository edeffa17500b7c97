#include "ops/work.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "ops/multiply_accumulates.h"

namespace assay {
namespace {

/// A number of steps that stays where it would overflow.
struct Steps {
  int64_t n;
  friend Steps operator+(Steps a, Steps b) {
    return {a.n > INT64_MAX - b.n ? INT64_MAX : a.n + b.n};
  }
  friend Steps operator*(Steps a, Steps b) {
    int64_t product = 0;
    return {__builtin_mul_overflow(a.n, b.n, &product) ? INT64_MAX : product};
  }
};

const Dims* dims_of(const Value* v) {
  return v != nullptr && v->type.is_tensor() && v->type.dims ? &*v->type.dims : nullptr;
}

/// 0 when there is no such axis or its extent is not known. From the end if negative.
Steps extent(const Value* v, int axis) {
  const Dims* dims = dims_of(v);
  if (dims == nullptr) return {0};
  const int rank = static_cast<int>(dims->size()), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return {0};
  const Dim& d = (*dims)[static_cast<size_t>(at)];
  return {d.is_known() ? std::max<int64_t>(d.value(), 0) : 0};
}

/// 0 when not all extents are known.
Steps elements(const Value* v) {
  const Dims* dims = dims_of(v);
  if (dims == nullptr) return {0};
  Steps all{1};
  for (size_t d = 0; d < dims->size(); ++d) all = all * extent(v, static_cast<int>(d));
  return all;
}

int64_t integer(const Node& n, std::string_view name) {
  const Attribute* a = n.find_attribute(name);
  const auto* i = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return i != nullptr ? std::max<int64_t>(*i, 0) : 0;
}

Steps windows(const Node& n) {
  const Attribute* a = n.find_attribute("kernel_shape");
  const auto* extents = a != nullptr ? a->get_if<std::vector<int64_t>>() : nullptr;
  if (extents == nullptr) return {0};
  Steps all = elements(n.output(0));
  for (const int64_t e : *extents) all = all * Steps{std::max<int64_t>(e, 0)};
  return all;
}

Steps neighbours(const Node& n) { return elements(n.output(0)) * Steps{integer(n, "size")}; }

Steps samples(const Node& n) {
  const Steps ratio{integer(n, "sampling_ratio")};
  return elements(n.output(0)) * ratio * ratio;
}

/// Every box of a class is compared with every one that is kept.
Steps box_pairs(const Node& n) {
  return extent(n.input(1), 0) * extent(n.input(1), 1) * extent(n.input(1), 2) * extent(n.input(1), 2);
}

Steps elimination(const Node& n) { return elements(n.input(0)) * extent(n.input(0), -1); }

Steps distances(const Node& n) { return elements(n.output(0)) * extent(n.input(0), -1); }

/// A transform of length n takes n steps for every prime that divides it, times that prime.
Steps fourier(const Node& n) {
  Steps worst{0};
  for (const Value* v : {static_cast<const Value*>(n.input(0)), static_cast<const Value*>(n.output(0))}) {
    const Dims* dims = dims_of(v);
    for (size_t d = 0; dims != nullptr && d < dims->size(); ++d) {
      int64_t rest = extent(v, static_cast<int>(d)).n, primes = 0;
      for (int64_t p = 2; p <= rest / p; ++p)
        for (; rest % p == 0; rest /= p) primes += p;
      primes += rest;
      worst.n = std::max(worst.n, (elements(v) * Steps{primes}).n);
    }
  }
  return worst;
}

struct Cost {
  std::string_view op;
  Steps (*steps)(const Node&);
};
constexpr Cost kCosts[] = {
    {"AveragePool", windows},
    {"CDist", distances},
    {"DFT", fourier},
    {"Det", elimination},
    {"DynamicQuantizeMatMul", distances},
    {"FusedGemm", distances},
    {"FusedMatMul", distances},
    {"LpPool", windows},
    {"LRN", neighbours},
    {"MatMulIntegerToFloat", distances},
    {"MatMulNBits", distances},
    {"MaxPool", windows},
    {"NonMaxSuppression", box_pairs},
    {"QLinearAveragePool", windows},
    {"RoiAlign", samples},
    {"STFT", fourier},
};

}  // namespace

int64_t work_estimate(const Node& node) {
  Steps all{0};
  for (const Value* v : node.inputs()) all = all + elements(v);
  for (const Value* v : node.outputs()) all = all + elements(v);
  if (const std::optional<int64_t> macs = multiply_accumulates(node).number()) all = all + Steps{std::max<int64_t>(*macs, 0)};
  const auto* cost =
      std::find_if(std::begin(kCosts), std::end(kCosts), [&](const Cost& c) { return c.op == node.op_type; });
  if (cost != std::end(kCosts)) all = all + cost->steps(node);
  return all.n;
}

bool may_blow_up(const Node& node) {
  for (const char* op :
       {"ConstantOfShape", "Expand", "Tile", "Range", "Resize", "Upsample", "Pad", "EyeLike", "OneHot"})
    if (node.op_type == op) return true;
  return false;
}

}  // namespace assay
