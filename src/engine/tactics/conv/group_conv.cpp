// Pointwise convolution in groups, row-major: one small matrix product per group, which reads the image in
// place.
#include "engine/tactics/conv/group_conv_kernel.h"
#include "engine/tactics/epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_group_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

bool is_pointwise(const kernels::Window& w) {
  for (size_t k = 0; k < w.rank(); ++k)
    if (w.kernel[k] != 1 || w.strides[k] != 1 || w.begin[k] != 0 || w.end[k] != 0) return false;
  return true;
}

std::string supports(const Problem& p) {
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  const Shape* in = p.input_shape(0);
  if (in == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_constant(1) == nullptr || (p.has_input(2) && p.input_constant(2) == nullptr))
    return "weights or bias are not constant";
  const ConvPlan plan = plan_conv(p.attributes(), *in, p.input_constant(1)->shape());
  if (plan.size.groups == 1) return "it has only one group";
  if (plan.size.groups == plan.size.in_channels) return "its groups are single channels";
  if (!is_pointwise(plan.window)) return "its kernel is larger than one point";
  if (plan.output.numel() == 0) return "the result is empty";
  return row_epilogue_refusal(p, p.region().epilogue);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const ConvPlan plan = plan_conv(p.attributes(), *p.input_shape(0), p.input_constant(1)->shape());
  b.add_input(p.node().input(0));
  b.add_input(p.node().input(1));
  p.has_input(2) ? b.add_input(p.node().input(2)) : b.skip_input();
  b.add_output(p.region().output());
  b.write(StepFields{{.batch = plan.size.batch,
                      .groups = plan.size.groups,
                      .m = plan.size.out_channels / plan.size.groups,
                      .n = plan.window.out_size(),
                      .k = plan.size.in_channels / plan.size.groups}});
  b.estimate = estimate_seconds(
      2.0 * static_cast<double>(plan.output.numel() * plan.size.in_channels / plan.size.groups), 0, 0.5);
  write_row_epilogue(p, p.region().epilogue, 3, b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "group_conv",
    .summary = "pointwise convolution in groups, row-major",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_group_conv
