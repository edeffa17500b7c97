// Reshape and its kin: the same memory under another shape. Nothing runs.
#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

constexpr std::string_view kOperators[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) == 0) return "strings have no memory to look at";
  if (p.input_dtype(0) != p.output_dtype(0)) return "the element type changes";
  return {};
}

std::string lower(const Problem& p, StepBuilder& b) {
  // A blocked input stays as it is when the shape does too.
  const Layout layout = *p.input_shape(0) == *p.output_shape(0) ? p.input_layout(0) : Layout();
  b.alias(p.node().output(0), layout, p.node().input(0), layout, 0);
  return {};
}

}  // namespace

constinit const TacticDef tactic_view = {
    .name = "view",
    .operators = kOperators,
    .numerics = NumericsClass::kExact,
    .supports = supports,
    .lower = lower,
};

}  // namespace assay::engine
