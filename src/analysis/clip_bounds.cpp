#include "analysis/clip_bounds.h"

#include <cmath>

#include "analysis/match.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

std::optional<double> clip_bound(const Node& n, std::string_view attribute, size_t input, double otherwise) {
  if (n.find_attribute(attribute) != nullptr) return float_attribute(n, attribute, otherwise);
  const std::optional<double> x = n.input(input) != nullptr ? scalar_of(n.input(input)) : otherwise;
  return x && !std::isnan(*x) ? x : std::nullopt;
}

}  // namespace

std::optional<ClipBounds> clip_bounds(const Node& n) {
  if (!is_op(n, "Clip")) return std::nullopt;
  const std::optional<double> low = clip_bound(n, "min", 1, -INFINITY),
                              high = clip_bound(n, "max", 2, INFINITY);
  return low && high ? std::optional(ClipBounds{*low, *high}) : std::nullopt;
}

bool gives_no_negative(const Node& n, const Model& model) {
  // Of integers, the least one is its own magnitude.
  const bool may_wrap = is_integer(dtype_of(n.output(0))) && !is_op(n, "Relu");
  if (facts_of(n, model).sign != SignOfResult::kAny) return !may_wrap;
  const std::optional<ClipBounds> bounds = clip_bounds(n);
  return bounds && bounds->are_non_negative();
}

}  // namespace assay
