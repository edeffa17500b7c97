// DynamicQuantizeLinear: the range of the data, then their levels.
#include "engine/tactics/product/dynamic_quantize_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_dynamic_quantize {
namespace {

constexpr std::string_view kOperators[] = {"DynamicQuantizeLinear"};

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_shape(0)->numel() == 0) return "there is nothing to take the range of";
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0))) {
    if (layout.is_blocked()) continue;
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    b.add_input(p.node().input(0), layout);
    p.node().output(0) != nullptr ? b.add_output(p.node().output(0), layout) : b.skip_output();
    for (size_t i = 1; i < 3; ++i)
      p.node().output(i) != nullptr ? b.add_output(p.node().output(i)) : b.skip_output();
    const auto count = static_cast<double>(p.input_shape(0)->numel());
    b.estimate = estimate_seconds(4 * count, 9 * count, 0.5);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "dynamic_quantize",
    .summary = "levels of 8 bits by the range of the data",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_dynamic_quantize
