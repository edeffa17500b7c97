#include "passes/never_fails.h"

#include <algorithm>
#include <optional>

#include "graph/read.h"
#include "ops/node_facts.h"
#include "passes/pointwise_form.h"
#include "passes/region.h"

namespace assay {
namespace {

bool has_known_shapes(const Node& n) {
  const auto known = [](const Value* v) { return v == nullptr || shape_of(v).has_value(); };
  return std::all_of(n.inputs().begin(), n.inputs().end(), known) &&
         std::all_of(n.outputs().begin(), n.outputs().end(), known);
}

}  // namespace

bool never_fails(const Node& n, const Model& model) {
  if (facts_of(n, model).is_total) return has_known_shapes(n);
  const std::optional<PointwiseForm> form = is_region(n) ? std::nullopt : pointwise_form(n, model);
  if (!form || (n.inputs().size() > 1 && !has_known_shapes(n))) return false;
  const bool divides = n.op_type == "Div" || n.op_type == "Mod" || n.op_type == "Pow";
  return !divides || is_float(dtype_of(n.output(0)));
}

}  // namespace assay
